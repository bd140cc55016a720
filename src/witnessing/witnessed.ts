import { eventOf } from "../../domain/events.ts";
import { sameBytes } from "../../domain/evidence/bytes.ts";
import { parseCheckpoint } from "../../domain/evidence/checkpoint.ts";
import { cosignedBy } from "../../domain/evidence/cosignature.ts";
import type { TreeHead } from "../../domain/evidence/merkle.ts";
import { parseNote, type SignedNote, verifiedBy } from "../../domain/evidence/signed-note.ts";
import { HOURLY_STREAM, WITNESSED_STREAM, type WitnessEvent } from "../../domain/evidence/witness-events.ts";
import { isQuorum } from "../../domain/evidence/witness-policy.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import { ed25519Verify } from "../../infra/crypto/ed25519.ts";
import type { InstanceTree } from "./instance-tree.ts";
import type { WitnessConfig } from "./witness-config.ts";

/** An instance checkpoint of this log; `note` is the checkpoint with the log's signatures and the cosignatures. */
export type CosignedCheckpoint = TreeHead & { readonly note: string };

export type Witnessed = {
  /** Whether a checkpoint is published only once it is witnessed; false as well if no witness is configured. */
  readonly isRequired: boolean;
  /** The newest checkpoint that the configured quorum has cosigned; null if there is none. */
  newest(): Promise<CosignedCheckpoint | null>;
  /** One checkpoint an hour, in the order of their sizes, whichever policy was in force. */
  hourly(): AsyncIterable<CosignedCheckpoint>;
};

type WitnessedDeps = {
  readonly log: Pick<EventLog, "last" | "read">;
  readonly tree: Pick<InstanceTree, "origin" | "rootAt" | "keys">;
  /** Null if no witness is configured: then nothing counts as witnessed. */
  readonly config: Pick<WitnessConfig, "policy" | "mode"> | null;
};

/** The log is not asked again for this long (ms), because each read of audit records asks. */
const FRESH_MS = 500;
/** Records that are tried if the last one is not believed. */
const TRIES_MAX = 16;
const PAGE = 500;

const checkpointOf = (record: RecordedEvent): { note: SignedNote; text: string } | null => {
  const { type, data } = eventOf<WitnessEvent>(record);
  const note = type === "CheckpointCosigned" && typeof data.note === "string" ? parseNote(data.note) : null;
  return note === null ? null : { note, text: data.note };
};

/** Believes no record as such: signatures are verified, and roots are compared with what this node has folded. */
export class WitnessedCheckpoints implements Witnessed {
  readonly #deps: WitnessedDeps;
  #newest: { readonly record: string; readonly checkpoint: CosignedCheckpoint } | null = null;
  #asked: { readonly at: number; readonly answer: Promise<CosignedCheckpoint | null> } | null = null;

  constructor(deps: WitnessedDeps) {
    this.#deps = deps;
  }

  get isRequired(): boolean {
    return this.#deps.config?.mode === "closed";
  }

  newest(): Promise<CosignedCheckpoint | null> {
    const now = performance.now();
    if (this.#asked !== null && now - this.#asked.at < FRESH_MS) return this.#asked.answer;
    const answer = this.#read();
    this.#asked = { at: now, answer };
    // A failed read is not kept.
    answer.catch(() => {
      this.#asked = null;
    });
    return answer;
  }

  async *hourly(): AsyncGenerator<CosignedCheckpoint> {
    let after: number | null = null;
    for (;;) {
      const page: readonly RecordedEvent[] = await this.#deps.log.read(HOURLY_STREAM, after, PAGE);
      for (const record of page) {
        const checkpoint = await this.#signed(record);
        if (checkpoint !== null) yield checkpoint;
      }
      if (page.length < PAGE) return;
      after = page.at(-1)?.revision ?? null;
    }
  }

  async #read(): Promise<CosignedCheckpoint | null> {
    const { log, config } = this.#deps;
    const last = config === null ? null : await log.last(WITNESSED_STREAM);
    if (last === null) return null;
    const origin = await this.#deps.tree.origin();
    if (this.#newest?.record === last.id && this.#isOf(origin)) return this.#newest.checkpoint;
    const first = Math.max(0, last.revision - TRIES_MAX + 1);
    const page = await log.read(WITNESSED_STREAM, first === 0 ? null : first - 1, TRIES_MAX);
    for (const record of page.toReversed()) {
      const checkpoint = await this.#signed(record);
      if (checkpoint === null || !(await this.#hasQuorum(record))) continue;
      if (record.id === last.id) this.#newest = { record: record.id, checkpoint };
      return checkpoint;
    }
    return null;
  }

  #isOf(origin: string | null): boolean {
    return this.#newest?.checkpoint.note.startsWith(`${origin}\n`) ?? false;
  }

  /** Null unless this log has signed the checkpoint, and this node has folded the same tree. */
  async #signed(record: RecordedEvent): Promise<CosignedCheckpoint | null> {
    const { tree } = this.#deps;
    const found = checkpointOf(record);
    const checkpoint = found === null ? null : parseCheckpoint(found.note.text);
    if (found === null || checkpoint === null || checkpoint.origin !== (await tree.origin())) return null;
    const verdicts: string[] = [];
    for (const key of await tree.keys()) verdicts.push(await verifiedBy(ed25519Verify, found.note, key));
    if (verdicts.includes("wrong") || !verdicts.includes("verified")) return null;
    const { size, root } = checkpoint;
    const own = await tree.rootAt(size);
    return own !== null && sameBytes(own, root) ? { size, root, note: found.text } : null;
  }

  async #hasQuorum(record: RecordedEvent): Promise<boolean> {
    const { config } = this.#deps;
    const found = checkpointOf(record);
    if (config === null || found === null) return false;
    const cosigned = new Set<string>();
    for (const { name, key } of config.policy.witnesses)
      if (typeof (await cosignedBy(ed25519Verify, found.note, key)) === "object") cosigned.add(name);
    return cosigned.size > 0 && isQuorum(config.policy, cosigned);
  }
}
