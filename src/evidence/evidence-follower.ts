import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { EvidenceStore, InstanceState } from "../../domain/ports/evidence-store.ts";
import { EvidenceDamaged } from "../../infra/evidence-errors.ts";
import { hasRecord } from "../following/log-cursor.ts";
import { FoldCache, PageFold } from "./page-fold.ts";

/** The name under which the fold of the evidence is reported beside those of the views. */
export const EVIDENCE = "evidence";

type FollowedLog = Pick<EventLog, "identity" | "read">;

/** Folds the log's records into the evidence store, page after page. */
export class EvidenceFollower {
  readonly view = EVIDENCE;
  readonly #log: FollowedLog;
  readonly #store: EvidenceStore;
  readonly #cache = new FoldCache();
  #position: Position | null = null;
  #instance: InstanceState | null = null;
  /** True once this process has folded from the log's beginning: a difference is then no damage of an older file. */
  #isOwnFold = false;

  constructor(log: FollowedLog, store: EvidenceStore) {
    this.#log = log;
    this.#store = store;
  }

  position(): Position | null {
    return this.#position;
  }

  /** Drops what may belong to another log, or whose last record this log lacks. Null if it stays, or nothing was there. */
  async claim(): Promise<"unknown-log" | "record-missing" | null> {
    const origin = await this.#origin();
    if (origin === null) {
      await this.#drop();
      return null;
    }
    if (origin.log !== (await this.#log.identity())) {
      await this.#drop();
      return "unknown-log";
    }
    if (origin.last === null || (await hasRecord(this.#log, origin.last))) {
      await this.refresh();
      return null;
    }
    await this.#drop();
    return "record-missing";
  }

  /** Reads how far the store is folded, as another process may have folded on. */
  async refresh(): Promise<void> {
    const origin = await this.#origin();
    if (origin === null) return this.#drop();
    if (origin.log !== (await this.#log.identity())) throw new Error("the evidence is that of another log by now");
    const kept = origin.last?.position ?? null;
    if (kept === this.#position && this.#instance !== null) return;
    this.#forget();
    this.#instance = await this.#store.instance();
    this.#position = kept;
  }

  async advance(page: readonly RecordedEvent[]): Promise<void> {
    if (this.#instance === null) return this.refresh();
    try {
      await this.#fold(page, this.#instance);
    } catch (error) {
      this.#forget();
      // The pages that follow are folded from the log's beginning.
      if (error instanceof EvidenceDamaged) await this.#drop();
      throw error;
    }
  }

  async #fold(page: readonly RecordedEvent[], instance: InstanceState): Promise<void> {
    const last = page.at(-1);
    if (last === undefined) return;
    const fold = new PageFold(this.#store, this.#cache, instance);
    await fold.fold(page);
    const result = fold.result(last);
    const { difference } = result.instance;
    if (difference !== null && instance.difference === null && !this.#isOwnFold)
      throw new EvidenceDamaged(`the root of ${difference.account} at ${difference.size} is not the sealed one`);
    if ((await this.#store.commit(this.#position, result)) === "stale") {
      this.#forget();
      return this.refresh();
    }
    this.#instance = result.instance;
    this.#position = last.position;
  }

  /** What a failed commit has left in memory may differ from what the store has. */
  #forget(): void {
    this.#cache.clear();
    this.#instance = null;
  }

  async #origin(): ReturnType<EvidenceStore["origin"]> {
    try {
      return await this.#store.origin();
    } catch (error) {
      if (error instanceof EvidenceDamaged) return null;
      throw error;
    }
  }

  async #drop(): Promise<void> {
    this.#forget();
    await this.#store.drop(await this.#log.identity());
    this.#instance = await this.#store.instance();
    this.#position = null;
    this.#isOwnFold = true;
  }
}
