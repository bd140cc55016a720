import { iso } from "../../domain/calendar.ts";
import { eventOf } from "../../domain/events.ts";
import { checkpointOf, restoring } from "../../domain/ledger/checkpoint.ts";
import type { LedgerCheckpoint, LedgerEvent } from "../../domain/ledger/events.ts";
import { windowMsOf } from "../../domain/ledger/loop.ts";
import { emptyLedger, evolveLedger, type Ledger } from "../../domain/ledger/state.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, NewEvent, RecordedEvent, Revision } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { type Envelope, type Fact, NO_TRACE, systemEnvelope, type Trace, toEvents } from "../streams/envelope.ts";
import { appendKnown } from "../streams/run-command.ts";

const READ_PAGE = 1_000;
/** A checkpoint is written after so many records, so that opening a ledger reads hardly more of them. */
const CHECKPOINT_EVERY = 1_000;
/** A checkpoint lists all open places and charged names and has to stay below 1 MB, so a larger ledger gets none. */
const CHECKPOINT_OPEN_MAX = 2_000;
const CHECKPOINT_CHARGED_MAX = 5_000;

type CheckpointEvent = { readonly type: "LedgerCheckpointed"; readonly data: LedgerCheckpoint };

export type LedgerDraft = {
  readonly stream: string;
  readonly expected: Revision | "absent";
  readonly events: readonly NewEvent[];
};

type CopyDeps = {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly onError: (error: unknown) => void;
};

export class LedgerCopy {
  ledger: Ledger;
  revision: Revision | null = null;
  readonly #stream: string;
  readonly #account: string;
  readonly #deps: CopyDeps;
  readonly #windowMs: number;
  #checkpointed = -1;

  constructor(stream: string, account: string, deps: CopyDeps) {
    this.#stream = stream;
    this.#account = account;
    this.#deps = deps;
    this.#windowMs = windowMsOf(stream);
    this.ledger = emptyLedger(this.#windowMs);
  }

  async load(): Promise<void> {
    this.ledger = emptyLedger(this.#windowMs);
    this.revision = null;
    const last = await this.#deps.log.last(`checkpoint-${this.#stream}`);
    if (last !== null) await this.#restore(eventOf<CheckpointEvent>(last).data);
    await this.catchUp();
  }

  async catchUp(): Promise<void> {
    for (;;) {
      const page = await this.#deps.log.read(this.#stream, this.revision, READ_PAGE);
      for (const event of page) this.#evolve(event);
      if (page.length < READ_PAGE) return;
    }
  }

  /** False if another node has appended first: the copy has caught up, and the caller decides again. */
  async append(facts: readonly LedgerEvent[], trace: Trace): Promise<boolean> {
    const { stream, expected, events } = this.draft(facts, trace);
    const appended = await appendKnown(this.#deps.log, stream, expected, events);
    if (appended.outcome === "conflict") {
      await this.catchUp();
      return false;
    }
    this.appended(facts, appended.revision);
    return true;
  }

  /** The append of these facts, which the caller makes together with others. `appended` then has to be called. */
  draft(facts: readonly LedgerEvent[], trace: Trace): LedgerDraft {
    const events = toEvents(facts, this.#envelope(trace));
    return { stream: this.#stream, expected: this.revision ?? "absent", events };
  }

  /** `revision` is that of the last of these facts. */
  appended(facts: readonly LedgerEvent[], revision: Revision): void {
    for (const [index, fact] of facts.entries()) {
      this.#evolve({ revision: revision - facts.length + 1 + index, ...fact });
    }
  }

  /** A lost checkpoint costs only speed, so nothing waits for it. */
  checkpoint(): void {
    const { ledger, revision } = this;
    if (revision === null || revision - this.#checkpointed < CHECKPOINT_EVERY) return;
    if (ledger.open.size > CHECKPOINT_OPEN_MAX || ledger.charged.size > CHECKPOINT_CHARGED_MAX) return;
    this.#checkpointed = revision;
    const event: CheckpointEvent = { type: "LedgerCheckpointed", data: checkpointOf(ledger, revision) };
    const events = toEvents([event], this.#envelope(NO_TRACE));
    this.#deps.log.append(`checkpoint-${this.#stream}`, "any", events).catch(this.#deps.onError);
  }

  /** A checkpoint leaves out the entries of the sliding window, which are read from the stream. */
  async #restore(checkpoint: LedgerCheckpoint): Promise<void> {
    const restored = restoring(checkpoint, this.#windowMs);
    for (let after = checkpoint.window_from - 1; after < checkpoint.revision; ) {
      const page = await this.#deps.log.read(this.#stream, after < 0 ? null : after, READ_PAGE);
      for (const event of page) {
        after = event.revision;
        if (after <= checkpoint.revision) restored.refill(eventOf<LedgerEvent>(event), after);
      }
      if (page.length === 0) break;
    }
    this.ledger = restored.ledger();
    this.revision = checkpoint.revision;
    this.#checkpointed = checkpoint.revision;
  }

  #evolve(event: RecordedEvent | (Fact & { revision: Revision })): void {
    evolveLedger(this.ledger, eventOf<LedgerEvent>(event), event.revision);
    this.revision = event.revision;
  }

  #envelope(trace: Trace): Envelope {
    return systemEnvelope({
      actor: "ledger",
      commandId: randomId("cmd_", this.#deps.randomness),
      account: this.#account,
      trace,
      at: iso(this.#deps.clock.now()),
    });
  }
}
