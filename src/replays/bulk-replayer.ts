import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import type { ReplayCommand } from "../../domain/replay/commands.ts";
import { replay as replayDecider } from "../../domain/replay/decider.ts";
import type { ReplayCursor } from "../../domain/replay/events.ts";
import type { SkipCount, SkipReason } from "../../domain/replay/skips.ts";
import type { BegunReplay } from "../../domain/replay/state.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { LogUnavailable, OutcomeUnknown } from "../../infra/log-errors.ts";
import { sumOfSkips } from "../../projections/replay-skips.ts";
import { replays as replaysView } from "../../projections/replays.ts";
import { type PollLoop, pollLoop } from "../following/poll-loop.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { type Envelope, systemEnvelope } from "../streams/envelope.ts";
import { pagesIn } from "../views/typed-documents.ts";
import type { EventReplayer } from "./event-replayer.ts";
import { type ChosenPage, chosenAfter, isShownUpTo } from "./plan.ts";
import { skipReasonOf } from "./replay-problems.ts";
import { replayStream } from "./stream.ts";

export type BulkReplayerDeps = {
  readonly log: Pick<EventLog, "read" | "identity" | "onAppended">;
  readonly views: Pick<ViewStore, "page" | "position">;
  readonly aggregates: Aggregates;
  readonly replayer: Pick<EventReplayer, "replay">;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly node: string;
  /** True if every other process is known to be gone, so that its claims are void. */
  readonly othersAreGone: boolean;
  readonly onError: (error: unknown) => void;
};

/** Milliseconds after which replays are found that another node started, or left when it died. */
const LOOK_MS = 1_000;
const RUNNING_MAX = 32;
/** Replays of one account at once, so that an account with many does not delay those of others. */
const OF_ACCOUNT_MAX = 2;
/** After so many events there is a checkpoint. A crash repeats the events since then, which changes nothing. */
const CHECKPOINT_EVENTS = 100;
const CHECKPOINT_MS = 5_000;
/** A checkpoint claims the replay for its node for this long. A node that misses several is dead or very slow. */
const CLAIM_MS = 20_000;
const WAIT_MS = 1_000;
const AT_ONCE_MAX = 16;
const BATCHES_A_SECOND = 20;
/** A replay that fell behind makes up at most this many milliseconds, by exceeding its rate. */
const BEHIND_MAX_MS = 250;
const SECOND_MS = 1_000;

/** A replay that this node works on. `dueMs` and `checkpointMs` are times of the monotonic clock. */
type Run = {
  readonly id: string;
  readonly account: string;
  readonly rate: number;
  readonly upTo: Position | null;
  cursor: ReplayCursor | null;
  skipped: readonly SkipCount[];
  dueMs: number;
  eventsSinceCheckpoint: number;
  checkpointMs: number;
};

/** Works through the running bulk replays. Each takes effect on an event only once, so a repeat changes nothing. */
export class BulkReplayer {
  readonly #deps: BulkReplayerDeps;
  readonly #looks: PollLoop;
  readonly #working = new Map<string, { readonly account: string; readonly ended: Promise<void> }>();
  #isStarted = false;

  constructor(deps: BulkReplayerDeps) {
    this.#deps = deps;
    this.#looks = pollLoop(() => this.#look(), { everyMs: LOOK_MS, onError: deps.onError, log: deps.log });
  }

  start(): void {
    this.#isStarted = true;
    this.#looks.start();
  }

  /** Waits for the events in progress. Any node may continue after the last checkpoint. */
  async stop(): Promise<void> {
    await this.#looks.stop();
    await Promise.all([...this.#working.values()].map(({ ended }) => ended));
  }

  begin(id: string, account: string): void {
    const working = this.#working;
    if (!this.#isStarted || this.#looks.isStopping() || working.has(id) || working.size >= RUNNING_MAX) return;
    if ([...working.values()].filter((it) => it.account === account).length >= OF_ACCOUNT_MAX) return;
    const ended = this.#work(id)
      .catch(this.#deps.onError)
      .finally(() => working.delete(id));
    working.set(id, { account, ended });
  }

  /** False if no replay is running. */
  async #look(): Promise<boolean> {
    const where = [{ field: "status", is: "=", value: "running" }] as const;
    const sort = { field: "started_at", order: "asc" } as const;
    const query = { where, sort, limit: RUNNING_MAX };
    for await (const page of pagesIn(this.#deps.views, replaysView, query)) {
      for (const { id, document } of page) this.begin(id, document.account);
      if (this.#working.size >= RUNNING_MAX) return true;
    }
    return this.#working.size > 0;
  }

  async #work(id: string): Promise<void> {
    const { views } = this.#deps;
    const begun = await this.#own(id, 0);
    if (begun === null) return;
    const { account, filter, rate_per_second: rate } = begun.started;
    const upTo = await this.#snapshotOf(begun);
    if (!(await isShownUpTo(views, upTo))) return;
    const { cursor, skipped, claim } = begun;
    const times = { dueMs: performance.now(), checkpointMs: performance.now() };
    const run: Run = { ...{ id, account, rate, upTo, cursor, skipped }, ...times, eventsSinceCheckpoint: 0 };
    if (claim?.node !== this.#deps.node && !(await this.#checkpoint(run))) return;
    const choice = { account, filter, upTo, limit: CHECKPOINT_EVENTS };
    for (;;) {
      if ((await this.#own(id)) === null) return;
      const { chosen, next } = await chosenAfter(views, run.cursor, choice);
      // Checked after the page was read: a view under rebuild may lack events, and the cursor must not pass them.
      if (!(await isShownUpTo(views, upTo))) return;
      if (!(await this.#replayPage(run, chosen))) return;
      if (next === null) break;
      run.cursor = next;
    }
    if (run.eventsSinceCheckpoint > 0 && !(await this.#checkpoint(run))) return;
    await this.#handle(run, { type: "FinishReplay", at: this.#now() });
  }

  /** False if the replay has ended or another node has claimed it. */
  async #replayPage(run: Run, chosen: ChosenPage["chosen"]): Promise<boolean> {
    const size = Math.min(AT_ONCE_MAX, Math.max(1, Math.floor(run.rate / BATCHES_A_SECOND)));
    for (let from = 0; from < chosen.length; from += size) {
      const batch = chosen.slice(from, from + size);
      await this.#untilDue(run.dueMs);
      const state = await this.#own(run.id);
      if (state === null) return false;
      const replayed = await Promise.all(batch.map((it) => this.#replayEvent(state, run.upTo, it.id)));
      const last = batch.at(-1);
      if (last !== undefined) run.cursor = { received_at: last.received_at, id: last.id };
      const skips = replayed.filter((reason) => reason !== null).map((reason) => ({ reason, count: 1 }));
      run.skipped = sumOfSkips([...run.skipped, ...skips]);
      run.dueMs = Math.max(run.dueMs, performance.now() - BEHIND_MAX_MS) + (batch.length * SECOND_MS) / run.rate;
      run.eventsSinceCheckpoint += batch.length;
      const isDue =
        run.eventsSinceCheckpoint >= CHECKPOINT_EVENTS || performance.now() - run.checkpointMs >= CHECKPOINT_MS;
      if (isDue && !(await this.#checkpoint(run))) return false;
    }
    return true;
  }

  /** Null if the event was replayed, or refused by the gates a second time, which counts as failed. */
  async #replayEvent({ started }: BegunReplay, upTo: Position | null, eventId: string): Promise<SkipReason | null> {
    const { replay_id: id, account, by, reason } = started;
    const envelope: Envelope = { ...this.#envelopeOf(account), commandId: `${id}/${eventId}`, actor: by };
    try {
      const done = await this.#deps.replayer.replay({ eventId, replay: { id, by, reason }, envelope, upTo });
      return done.outcome === "refused" ? skipReasonOf(done.problem) : null;
    } catch (error) {
      if (error instanceof LogUnavailable || error instanceof OutcomeUnknown) throw error;
      this.#deps.onError(error);
      return "error";
    }
  }

  async #untilDue(dueMs: number): Promise<void> {
    while (!this.#looks.isStopping()) {
      const leftMs = dueMs - performance.now();
      if (leftMs <= 0) return;
      await new Promise((resolve) => setTimeout(resolve, Math.min(leftMs, WAIT_MS)));
    }
  }

  /** Null if the replay has ended, if another node works on it, or if this node is stopping. */
  async #own(id: string, maxAgeMs?: number): Promise<BegunReplay | null> {
    const { state } = await this.#deps.aggregates.load(replayDecider, replayStream(id), maxAgeMs);
    return state.phase !== "running" || this.#isTaken(state) || this.#looks.isStopping() ? null : state;
  }

  #isTaken({ claim }: BegunReplay): boolean {
    const { node, othersAreGone, clock } = this.#deps;
    if (claim === null || claim.node === node || othersAreGone) return false;
    return Math.abs(clock.now() - Date.parse(claim.at)) < CLAIM_MS;
  }

  /** In a copied log positions differ: there, all that the replay selected comes before its own first record. */
  async #snapshotOf({ started }: BegunReplay): Promise<Position | null> {
    const { replay_id: id, up_to, log: of } = started;
    const { log } = this.#deps;
    if (of === (await log.identity())) return up_to;
    const [record] = await log.read(replayStream(id), null, 1);
    return record?.position ?? up_to;
  }

  async #checkpoint(run: Run): Promise<boolean> {
    const { cursor, skipped } = run;
    const command = { type: "ProgressReplay", cursor, skipped, node: this.#deps.node, at: this.#now() } as const;
    const done = await this.#handle(run, command);
    run.eventsSinceCheckpoint = 0;
    run.checkpointMs = performance.now();
    return done.outcome !== "rejected";
  }

  #handle({ id, account }: Run, command: ReplayCommand) {
    return this.#deps.aggregates.handle(replayDecider, replayStream(id), command, this.#envelopeOf(account));
  }

  #envelopeOf(account: string): Envelope {
    const commandId = randomId("cmd_", this.#deps.randomness);
    return systemEnvelope({ actor: "replays", commandId, account, at: this.#now() });
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }
}
