import type { MapRow, MapRows } from "../../domain/evidence/key-map-rows.ts";
import type {
  AddedRecords,
  KeyMapStore,
  MapDifference,
  MapSeal,
  MapState,
  RecordLinks,
} from "../../domain/ports/key-map-store.ts";
import { EvidenceDamaged } from "../evidence-errors.ts";
import type { Database, SqlRow } from "./driver.ts";
import { bytesOf, withoutSum, withSum } from "./evidence-rows.ts";
import { packedLinks, unpackedLinks } from "./key-links.ts";

/** Records whose links are in one row: enough to name their keys seldom, few enough to unpack one of them quickly. */
const LINKS_ROW_MAX = 64;

const NOTHING: MapState = { size: 0, seal: null };

const statementsOf = (database: Database) => ({
  tree: database.prepare("SELECT number FROM trees WHERE name = ?"),
  links: database.prepare("SELECT first, packed FROM links WHERE tree = ? AND first <= ? ORDER BY first DESC LIMIT 1"),
  putLinks: database.prepare("INSERT INTO links (tree, first, packed) VALUES (?, ?, ?)"),
  state: database.prepare("SELECT size, seal_index, seal_root FROM maps WHERE tree = ?"),
  putState: database.prepare(
    `INSERT INTO maps (tree, size, seal_index, seal_root, difference) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
     SET size = excluded.size, seal_index = excluded.seal_index, seal_root = excluded.seal_root,
     difference = coalesce(difference, excluded.difference)`,
  ),
  row: database.prepare("SELECT tile, content FROM map_rows WHERE tree = ? AND row = ?"),
  putRow: database.prepare(
    `INSERT INTO map_rows (tree, row, tile, content) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET tile = excluded.tile, content = excluded.content`,
  ),
  clear: database.prepare("DELETE FROM map_rows WHERE tree = ?"),
  putSeal: database.prepare("INSERT INTO map_seals (tree, number, size, root) VALUES (?, ?, ?, ?)"),
  cover: database.prepare("UPDATE trees SET mapped = ? WHERE number = ?"),
  reached: database.prepare("DELETE FROM map_seals WHERE tree = ? AND number <= ?"),
  // SQLite takes the other columns from the row that has the minimum (https://sqlite.org/lang_select.html#bareagg).
  ahead: database.prepare(
    `SELECT name, min(map_seals.number) AS earliest, map_seals.size AS map_size, root
     FROM map_seals JOIN trees ON trees.number = tree GROUP BY tree LIMIT ?`,
  ),
  unmapped: database.prepare("SELECT name, size FROM trees WHERE size > mapped + 1 AND name <> '' LIMIT ?"),
  difference: database.prepare("SELECT difference FROM maps WHERE difference IS NOT NULL LIMIT 1"),
});

type LinksRow = { readonly first: number; readonly links: readonly RecordLinks[] };

/** The part of the evidence store that has links and key maps; its tables are in the same file. */
export class SqliteKeyMaps implements KeyMapStore {
  readonly #database: () => Database;
  readonly #guarded: <T>(work: () => T) => T;
  #prepared: { readonly of: Database; readonly statements: ReturnType<typeof statementsOf> } | null = null;

  /** `database` gives the one that is open now; `guarded` rolls back what has failed. */
  constructor(database: () => Database, guarded: <T>(work: () => T) => T) {
    this.#database = database;
    this.#guarded = guarded;
  }

  /** Called in the transaction in which a page is committed. */
  write(tree: number, { first, links, seals }: AddedRecords): void {
    for (let at = 0; at < links.length; at += LINKS_ROW_MAX)
      this.#sql().putLinks.run(tree, first + at, withSum(packedLinks(first + at, links.slice(at, at + LINKS_ROW_MAX))));
    for (const { index, size, root } of seals) {
      this.#sql().putSeal.run(tree, index, size, Buffer.from(root, "hex"));
      this.#sql().cover.run(size, tree);
    }
  }

  async recordLinks(account: string, indexes: readonly number[]): Promise<readonly RecordLinks[]> {
    return this.#guarded(() => {
      const tree = this.#treeOf(account);
      let row: LinksRow | null = null;
      return indexes.map((index) => {
        row = this.#rowWith(tree, index, row);
        const links = row?.links[index - row.first];
        if (links === undefined) throw new EvidenceDamaged(`the links of record ${index} of ${account} are missing`);
        return links;
      });
    });
  }

  async keyChain(account: string, key: string, from: number, count: number): Promise<readonly number[]> {
    return this.#guarded(() => {
      const tree = this.#treeOf(account);
      const indexes: number[] = [];
      let row: LinksRow | null = null;
      for (let index: number | null = from; index !== null && indexes.length < count; ) {
        row = this.#rowWith(tree, index, row);
        const own: RecordLinks[number] | undefined = row?.links[index - row.first]?.find(([name]) => name === key);
        if (own === undefined) break;
        indexes.push(index);
        index = own[1][1];
      }
      return indexes;
    });
  }

  async readMap<T>(account: string, work: (rows: Pick<MapRows, "get">, state: MapState) => T): Promise<T> {
    return this.#guarded(() => {
      const tree = this.#treeOf(account);
      // In one transaction, so that state and rows are of the same moment.
      this.#database().exec("BEGIN");
      const result = work(this.#rowsOf(tree), this.#stateOf(tree));
      this.#database().exec("COMMIT");
      return result;
    });
  }

  async mapSealsAhead(limit: number): Promise<readonly { readonly account: string; readonly seal: MapSeal }[]> {
    const sealOf = (row: SqlRow): MapSeal => ({
      index: Number(row.earliest),
      size: Number(row.map_size),
      root: Buffer.from(bytesOf(row.root)).toString("hex"),
    });
    return this.#guarded(() =>
      this.#sql()
        .ahead.all(limit)
        .map((row) => ({ account: String(row.name), seal: sealOf(row) })),
    );
  }

  async unmapped(limit: number) {
    return this.#guarded(() =>
      this.#sql()
        .unmapped.all(limit)
        .map((row) => ({ account: String(row.name), size: Number(row.size) })),
    );
  }

  async mapDifference(): Promise<MapDifference | null> {
    return this.#guarded(() => {
      const row = this.#sql().difference.get();
      // The column has what `writeMap` wrote.
      return row === undefined ? null : (JSON.parse(String(row.difference)) as MapDifference);
    });
  }

  async writeMap(
    account: string,
    after: number,
    work: (rows: MapRows) => { readonly state: MapState; readonly difference: MapDifference | null },
  ): Promise<"written" | "stale"> {
    return this.#guarded(() => {
      const tree = this.#treeOf(account);
      this.#database().exec("BEGIN IMMEDIATE");
      if (tree === null || this.#stateOf(tree).size !== after) {
        this.#database().exec("ROLLBACK");
        return "stale";
      }
      const { state, difference } = work(this.#rowsOf(tree));
      const { size, seal } = state;
      const root = seal === null ? null : Buffer.from(seal.root, "hex");
      const text = difference === null ? null : JSON.stringify(difference);
      this.#sql().putState.run(tree, size, seal?.index ?? null, root, text);
      if (seal !== null) this.#sql().reached.run(tree, seal.index);
      this.#database().exec("COMMIT");
      return "written";
    });
  }

  async clearMap(account: string): Promise<void> {
    this.#guarded(() => {
      const tree = this.#treeOf(account);
      this.#database().exec("BEGIN IMMEDIATE");
      const { seal } = this.#stateOf(tree);
      // The rows have to reach the same seal again.
      if (seal !== null) this.#sql().putSeal.run(tree, seal.index, seal.size, Buffer.from(seal.root, "hex"));
      this.#sql().clear.run(tree);
      this.#sql().putState.run(tree, 0, null, null, null);
      this.#database().exec("COMMIT");
    });
  }

  #sql(): ReturnType<typeof statementsOf> {
    const database = this.#database();
    if (this.#prepared?.of !== database) this.#prepared = { of: database, statements: statementsOf(database) };
    return this.#prepared.statements;
  }

  #treeOf(account: string): number | null {
    const row = this.#sql().tree.get(account);
    return row === undefined ? null : Number(row.number);
  }

  #stateOf(tree: number | null): MapState {
    const row = this.#sql().state.get(tree);
    if (row === undefined) return NOTHING;
    const size = Number(row.size);
    if (row.seal_index === null) return { size, seal: null };
    const root = Buffer.from(bytesOf(row.seal_root)).toString("hex");
    return { size, seal: { index: Number(row.seal_index), size, root } };
  }

  #rowsOf(tree: number | null): MapRows {
    const { row: select, putRow } = this.#sql();
    return {
      get(row): MapRow | null {
        const found = select.get(tree, row);
        if (found === undefined) return null;
        return { kind: Number(found.tile) === 1 ? "tile" : "bucket", bytes: withoutSum(found.content) };
      },
      put(row, { kind, bytes }) {
        putRow.run(tree, row, kind === "tile" ? 1 : 0, withSum(bytes));
      },
    };
  }

  /** The row that has the links of this record, if `known` is not it already. */
  #rowWith(tree: number | null, index: number, known: LinksRow | null): LinksRow | null {
    if (known !== null && known.first <= index && index < known.first + known.links.length) return known;
    const found = this.#sql().links.get(tree, index);
    if (found === undefined) return null;
    const first = Number(found.first);
    return { first, links: unpackedLinks(first, withoutSum(found.packed)) };
  }
}
