import { createHash } from "node:crypto";
import { sameBytes } from "../../domain/evidence/bytes.ts";
import { type Checkpoint, parseCheckpoint } from "../../domain/evidence/checkpoint.ts";
import { formatNote, type NoteSignature, parseNote } from "../../domain/evidence/signed-note.ts";
import { HOURLY_STREAM, WITNESSED_STREAM } from "../../domain/evidence/witness-events.ts";
import { isQuorum } from "../../domain/evidence/witness-policy.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import { limitedCall } from "../../infra/http/limited-call.ts";
import { systemEnvelope, toEvents } from "../streams/envelope.ts";
import type { InstanceCheckpoint, InstanceTree } from "./instance-tree.ts";
import { WitnessClient, type WitnessOutcome } from "./witness-client.ts";
import type { AskedWitness, WitnessConfig } from "./witness-config.ts";

/** Milliseconds between two rounds, and between two records of a busy installation. */
export const ROUND_MS = 10_000;
/** Once the quorum has cosigned, the other witnesses have this long (ms) to be in the same record. */
const STRAGGLERS_MS = 1_000;
/** A larger tree that a witness shows may be another node's, which this one folds within moments. */
const ROUNDS_BEHIND_MAX = 6;
const HOUR_CHARACTERS = "2026-01-31T23".length;

export type WitnessRoundsDeps = {
  readonly log: Pick<EventLog, "last" | "append">;
  readonly tree: InstanceTree;
  readonly config: WitnessConfig;
  readonly clock: Clock;
  readonly call?: typeof limitedCall;
  /** Takes a sentence when a witness begins to fail. */
  readonly onFailure: (sentence: string) => void;
  /** This log does not continue what it has signed; the sentence says what a witness has shown. */
  readonly onContradiction: (sentence: string) => void;
  readonly onOutcome: (witness: string, outcome: "cosigned" | "failed") => void;
  readonly stragglersMs?: number;
};

/** The size that a record has for this origin; 0 for another generation's. */
const sizeOf = (record: RecordedEvent | null, origin: string): number => {
  const checkpoint = parseCheckpoint(parseNote(String(record?.data.note ?? ""))?.text ?? "");
  return checkpoint?.origin === origin ? checkpoint.size : 0;
};

type Asked = {
  readonly witness: AskedWitness;
  readonly client: WitnessClient;
  /** Null if it is not being asked. A witness that hangs is left out of later rounds until it has answered. */
  underWay: Promise<void> | null;
  /** What was told since it last worked. */
  told: "nothing" | "failure" | "contradiction";
  /** A larger tree that it has shown, which may be what another node has sealed meanwhile; null if there is none. */
  ahead: Checkpoint | null;
  /** Rounds in which this node had folded everything, and yet not that tree. */
  roundsBehind: number;
};

/** Submits the instance checkpoint to all witnesses, and records it once a quorum has cosigned it. */
export class WitnessRounds {
  readonly #deps: WitnessRoundsDeps;
  readonly #asked: readonly Asked[];
  readonly #stopping = new AbortController();
  #isFirst = true;
  /** Of the last round that asked; true before the first. */
  #hasQuorum = true;

  constructor(deps: WitnessRoundsDeps) {
    const { tree, clock, call = limitedCall } = deps;
    this.#deps = deps;
    this.#asked = deps.config.witnesses.map((witness) => ({
      witness,
      client: new WitnessClient({
        key: witness.key,
        url: witness.url,
        call,
        tree,
        clock,
        signal: this.#stopping.signal,
      }),
      ...{ underWay: null, told: "nothing", ahead: null, roundsBehind: 0 },
    }));
  }

  /** True if the quorum has cosigned in the last round that asked. */
  healthy(): boolean {
    return this.#hasQuorum;
  }

  /** Ends the round that is under way, which records nothing then if it has no quorum yet. */
  stop(): void {
    this.#stopping.abort();
  }

  async run(): Promise<void> {
    const isCurrent = await this.#deps.tree.isCurrent();
    const checkpoint = await this.#deps.tree.checkpoint();
    const last = await this.#deps.log.last(WITNESSED_STREAM);
    if (checkpoint === null || (!this.#isFirst && this.#isRecent(last, checkpoint))) return;
    // What the witnesses know is compared at each start, even if nothing has been appended since.
    this.#isFirst = false;
    const signatures = await this.#collect(checkpoint, isCurrent);
    this.#hasQuorum = signatures !== null;
    if (signatures !== null) await this.#record(checkpoint, last, signatures);
  }

  /** True if another node, or this one, has just recorded a checkpoint, or this one already. */
  #isRecent(last: RecordedEvent | null, { note }: InstanceCheckpoint): boolean {
    if (last === null || this.#asked.some(({ ahead }) => ahead !== null)) return false;
    if (this.#hasQuorum && String(last.data.note).startsWith(note)) return true;
    const age = this.#deps.clock.now() - Date.parse(last.meta.recorded_at);
    // Rounds are a little late or early. The other node's clock may be ahead, and a wrong one must not stop the rounds.
    return Math.abs(age) < ROUND_MS / 2;
  }

  /** The signatures of the witnesses that answer in time; null without a quorum. */
  async #collect(checkpoint: InstanceCheckpoint, isCurrent: boolean): Promise<readonly NoteSignature[] | null> {
    const { policy } = this.#deps.config;
    const found = new Map<string, readonly NoteSignature[]>();
    const hasQuorum = (): boolean => found.size > 0 && isQuorum(policy, new Set(found.keys()));
    await new Promise<void>((resolve) => {
      const asking = this.#asked.filter(({ underWay }) => underWay === null);
      let left = asking.length;
      let timer: NodeJS.Timeout | null = null;
      const answered = (): void => {
        left -= 1;
        if (left === 0) {
          if (timer !== null) clearTimeout(timer);
          resolve();
        } else if (hasQuorum()) timer ??= setTimeout(resolve, this.#deps.stragglersMs ?? STRAGGLERS_MS);
      };
      if (left === 0) resolve();
      for (const asked of asking) {
        asked.underWay = this.#ask(asked, checkpoint, isCurrent)
          .then((signatures) => {
            if (signatures !== null) found.set(asked.witness.name, signatures);
          })
          .finally(() => {
            asked.underWay = null;
            answered();
          });
      }
    });
    return hasQuorum() ? [...found.values()].flat() : null;
  }

  /** Never rejects. */
  async #ask(
    asked: Asked,
    checkpoint: InstanceCheckpoint,
    isCurrent: boolean,
  ): Promise<readonly NoteSignature[] | null> {
    const { name } = asked.witness.key;
    const outcome = await this.#submit(asked, checkpoint).catch(
      (error: unknown): WitnessOutcome => ({ outcome: "failed", problem: `is not asked: ${String(error)}` }),
    );
    if (this.#stopping.signal.aborted) return null;
    this.#deps.onOutcome(name, outcome.outcome === "cosigned" ? "cosigned" : "failed");
    if (outcome.outcome === "cosigned") {
      asked.told = "nothing";
      return outcome.signatures;
    }
    const contradiction =
      outcome.outcome === "contradicted" ? contradictionOf(asked, checkpoint, outcome.checkpoint, isCurrent) : null;
    if (contradiction !== null && asked.told !== "contradiction") {
      asked.told = "contradiction";
      this.#deps.onContradiction(`The witness ${name} ${contradiction}.`);
    } else if (asked.told === "nothing") {
      asked.told = "failure";
      const ahead = "shows a larger tree that was signed with this log's key";
      this.#deps.onFailure(`The witness ${name} ${outcome.outcome === "failed" ? outcome.problem : ahead}.`);
    }
    return null;
  }

  /** A larger tree that the witness has shown before is compared as soon as this node has as many leaves. */
  async #submit(asked: Asked, own: InstanceCheckpoint): Promise<WitnessOutcome> {
    const { ahead } = asked;
    if (ahead !== null && own.size >= ahead.size) {
      const root = await this.#deps.tree.rootAt(ahead.size);
      if (root !== null && !sameBytes(root, ahead.root)) return { outcome: "contradicted", checkpoint: ahead };
      asked.ahead = null;
      asked.roundsBehind = 0;
    }
    return asked.client.submit(own);
  }

  /** A node that loses the race has nothing to record: the other one has recorded the same or a newer checkpoint. */
  async #record(own: InstanceCheckpoint, last: RecordedEvent | null, cosignatures: readonly NoteSignature[]) {
    const { log, clock } = this.#deps;
    const signed = parseNote(own.note);
    if (signed === null) throw new Error("the instance checkpoint is no signed note");
    const note = formatNote({ text: signed.text, signatures: [...signed.signatures, ...cosignatures] });
    const at = new Date(clock.now()).toISOString();
    const append = (stream: string, before: RecordedEvent | null) => {
      const commandId = `witnessed/${stream}/${createHash("sha256").update(note).digest("hex")}`;
      const facts = [{ type: "CheckpointCosigned", data: { note } }];
      const events = toEvents(facts, systemEnvelope({ commandId, at, actor: "witnesses" }));
      return log.append(stream, before === null ? "absent" : before.revision, events);
    };
    if (sizeOf(last, own.origin) > own.size) return;
    await append(WITNESSED_STREAM, last);
    const hourly = await log.last(HOURLY_STREAM);
    if (hourly?.meta.recorded_at.slice(0, HOUR_CHARACTERS) !== at.slice(0, HOUR_CHARACTERS))
      await append(HOURLY_STREAM, hourly);
  }
}

/** Null while another node may have sealed what the witness shows, and this one has not folded yet. */
const contradictionOf = (
  asked: Asked,
  own: InstanceCheckpoint,
  shown: Checkpoint,
  isCurrent: boolean,
): string | null => {
  const proves = "proves that this log was rolled back or changed: it shows a checkpoint, signed with this log's key,";
  if (shown.size <= own.size) return `${proves} with another root at ${shown.size} leaves than the log has now`;
  asked.ahead ??= shown;
  if (isCurrent) asked.roundsBehind += 1;
  if (asked.roundsBehind < ROUNDS_BEHIND_MAX) return null;
  return `${proves} with ${shown.size} leaves, and the log has ${own.size}`;
};
