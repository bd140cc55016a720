import type { KeyLink } from "../../domain/evidence/leaf.ts";
import type {
  EvidenceOrigin,
  EvidencePage,
  EvidenceReads,
  EvidenceStore,
  InstanceState,
  TileName,
  TreeName,
} from "../../domain/ports/evidence-store.ts";
import { EvidenceDamaged, EvidenceUnavailable } from "../evidence-errors.ts";
import { nameOf } from "../record-name.ts";
import { isDamage } from "./database-file.ts";
import { bytesOf, frontierOf, NO_LEAF, sealedOf, statementsOf, sumOf } from "./evidence-rows.ts";
import { openEvidence, openEvidenceToRead, removeEvidence, TABLE_NAMES } from "./evidence-tables.ts";
import { SqliteKeyMaps } from "./key-map-store.ts";

const INSTANCE: TreeName = "";
const EMPTY_INSTANCE: InstanceState = { revision: null, keys: [], earlier: [], difference: null };
const EMPTY = { size: 0, roots: [] };

/** Each process opens the file for itself. `path` may be ":memory:". */
class SqliteEvidence implements EvidenceStore {
  readonly maps: SqliteKeyMaps;
  readonly #path: string;
  #database: ReturnType<typeof openEvidence>;
  #sql: ReturnType<typeof statementsOf>;
  /** Filled in commits alone, as another process may call `drop`, after which a commit is stale and forgets them. */
  readonly #numbers = new Map<TreeName, number>();

  constructor(path: string, database = openEvidence(path)) {
    this.#path = path;
    this.#database = database;
    this.#sql = statementsOf(this.#database);
    this.maps = new SqliteKeyMaps(
      () => this.#database,
      (work) => this.#guarded(work),
    );
  }

  async origin(): Promise<EvidenceOrigin | null> {
    return this.#guarded(() => {
      const row = this.#sql.state.get();
      if (row === undefined) return null;
      // The column has what `commit` wrote.
      const record = row.record === null ? null : JSON.parse(String(row.record));
      return { log: String(row.log), last: record === null ? null : { ...record, position: String(row.position) } };
    });
  }

  async head(tree: TreeName) {
    return this.#guarded(() => {
      const row = this.#sql.tree.get(tree);
      return row === undefined ? EMPTY : frontierOf(row);
    });
  }

  async tiles(names: readonly TileName[]) {
    return this.#guarded(() => names.map((name) => this.#tile(name)));
  }

  async keys(account: string, keys: readonly string[]) {
    return this.#guarded(() => {
      const tree = this.#sql.tree.get(account)?.number ?? null;
      const found = new Map<string, KeyLink>();
      for (const key of keys) {
        const row = this.#sql.key.get(tree, key);
        if (row !== undefined) found.set(key, [Number(row.n), row.last === null ? null : Number(row.last)] as KeyLink);
      }
      return found;
    });
  }

  async instance(): Promise<InstanceState> {
    return this.#guarded(() => {
      const row = this.#sql.state.get();
      // The column has what `commit` wrote, in earlier builds without the earlier rotations.
      return row === undefined
        ? EMPTY_INSTANCE
        : { ...EMPTY_INSTANCE, ...(JSON.parse(String(row.instance)) as InstanceState) };
    });
  }

  async newestSealed(account: string) {
    return this.#guarded(() => sealedOf(this.#sql.newestSealed.get(account)));
  }

  async firstSealed(account: string, index: number) {
    return this.#guarded(() => sealedOf(this.#sql.firstSealed.get(account, index)));
  }

  async sealedBefore(account: string, leaf: number) {
    return this.#guarded(() => sealedOf(this.#sql.sealedBefore.get(account, leaf)));
  }

  async sealedAt(leaf: number) {
    return this.#guarded(() => sealedOf(this.#sql.sealedAt.get(leaf)));
  }

  async unsealed(limit: number) {
    return this.#guarded(() =>
      this.#sql.unsealed.all(limit).map((row) => ({ account: String(row.name), ...frontierOf(row) })),
    );
  }

  async commit(after: string | null, page: EvidencePage): Promise<"committed" | "stale"> {
    return this.#guarded(() => {
      const { last, instance, isNewGeneration } = page;
      this.#database.exec("BEGIN IMMEDIATE");
      const record = JSON.stringify(nameOf(last));
      const moved = this.#sql.moveState.run(last.position, record, JSON.stringify(instance), after);
      if (Number(moved.changes) === 0) {
        this.#rollback();
        return "stale";
      }
      if (isNewGeneration) this.#beginGeneration();
      this.#write(page);
      this.#database.exec("COMMIT");
      return "committed";
    });
  }

  async drop(log: string): Promise<void> {
    try {
      this.#guarded(() => this.#empty(log));
    } catch (error) {
      if (!(error instanceof EvidenceDamaged)) throw error;
      // The file is so damaged that it cannot even be emptied.
      this.#database.close();
      removeEvidence(this.#path);
      await this.reopen();
      this.#guarded(() => this.#empty(log));
    }
  }

  async reopen(): Promise<void> {
    this.#guarded(() => {
      if (this.#database.isOpen) this.#database.close();
      this.#numbers.clear();
      this.#database = openEvidence(this.#path);
      this.#sql = statementsOf(this.#database);
    });
  }

  async close(): Promise<void> {
    if (this.#database.isOpen) this.#database.close();
  }

  #numberOf(tree: TreeName): number {
    const known = this.#numbers.get(tree);
    if (known !== undefined) return known;
    const number = Number(this.#sql.tree.get(tree)?.number ?? this.#sql.newTree.run(tree).lastInsertRowid);
    this.#numbers.set(tree, number);
    return number;
  }

  #tile({ tree, level, number }: TileName): Uint8Array {
    const row = this.#sql.tile.get(this.#sql.tree.get(tree)?.number ?? null, level, number);
    const hashes = bytesOf(row?.hashes);
    if (Buffer.compare(sumOf(hashes), bytesOf(row?.sum)) !== 0)
      throw new EvidenceDamaged(`tile ${level}/${number} of ${tree || "the instance"} was changed`);
    return hashes;
  }

  #beginGeneration(): void {
    this.#database.prepare("DELETE FROM tiles WHERE tree = ?").run(this.#numberOf(INSTANCE));
    this.#database.exec(`DELETE FROM sealed; UPDATE trees SET sealed_size = 0, sealed_leaf = ${NO_LEAF}`);
  }

  #write({ heads, tiles, keys, added, sealed }: EvidencePage): void {
    for (const [tree, { size, roots }] of heads) this.#sql.grow.run(size, Buffer.concat(roots), this.#numberOf(tree));
    for (const { tree, level, number, hashes } of tiles)
      this.#sql.putTile.run(this.#numberOf(tree), level, number, hashes, sumOf(hashes));
    for (const [account, links] of keys) {
      const tree = this.#numberOf(account);
      for (const [key, [n, last]] of links) this.#sql.putKey.run(tree, key, n, last);
    }
    for (const [account, records] of added) this.maps.write(this.#numberOf(account), records);
    for (const { account, size, root, leaf } of sealed) {
      const tree = this.#numberOf(account);
      this.#sql.putSealed.run(leaf, tree, size, Buffer.from(root, "base64"));
      this.#sql.markSealed.run(size, leaf, tree);
    }
  }

  #empty(log: string): void {
    this.#numbers.clear();
    this.#database.exec("BEGIN IMMEDIATE");
    // Without a WHERE clause SQLite frees whole pages instead of visiting each row.
    for (const table of TABLE_NAMES) this.#database.exec(`DELETE FROM ${table}`);
    this.#sql.newState.run(log, JSON.stringify(EMPTY_INSTANCE));
    this.#database.exec("COMMIT");
  }

  #rollback(): void {
    this.#numbers.clear();
    if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec("ROLLBACK");
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.#rollback();
      if (error instanceof EvidenceDamaged) throw error;
      if (isDamage(error)) throw new EvidenceDamaged(`${this.#path} is damaged`, { cause: error });
      throw new EvidenceUnavailable(`${this.#path} cannot be used`, { cause: error });
    }
  }
}

export const sqliteEvidenceStore = (path: string): EvidenceStore => new SqliteEvidence(path);

/** Of a file that others write, which stays as it is. Null if it is damaged as a whole, or of another format. */
export const sqliteEvidenceToRead = (path: string): (EvidenceReads & Pick<EvidenceStore, "maps" | "close">) | null => {
  const database = openEvidenceToRead(path);
  return database === null ? null : new SqliteEvidence(path, database);
};
