import { defined } from "../../domain/defined.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import type { FoundDocument, ViewStore } from "../../domain/ports/view-store.ts";
import type { ReplayCommand } from "../../domain/replay/commands.ts";
import { replay as replayDecider } from "../../domain/replay/decider.ts";
import type { ReplayCursor } from "../../domain/replay/events.ts";
import type { BegunReplay } from "../../domain/replay/state.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { LogUnavailable, OutcomeUnknown } from "../../infra/log-errors.ts";
import { replays as replaysView } from "../../projections/replays.ts";
import { pollLoop } from "../following/poll-loop.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { type Envelope, systemEnvelope } from "../streams/envelope.ts";
import { chosenAfter, isShownUpTo } from "./plan.ts";
import type { Replaying } from "./replaying.ts";
import { replayStream } from "./stream.ts";

export type ReplaysLoop = {
  start(): void;
  stop(): Promise<void>;
  begin(replayId: string, account: string): void;
};

export type ReplaysDeps = {
  readonly log: Pick<EventLog, "read" | "identity">;
  readonly views: Pick<ViewStore, "page" | "position">;
  readonly aggregates: Aggregates;
  readonly replaying: Replaying;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly node: string;
  /** True if every other process is known to be gone, so that its claims are void. */
  readonly othersAreGone: boolean;
  readonly onError: (error: unknown) => void;
};

/** Replays that another node started, or left when it died, are found this late at most. */
const LOOK_MS = 1_000;
const RUNNING_MAX = 32;
/** An account that starts many replays must not delay those of other accounts. */
const OF_ACCOUNT_MAX = 2;
/** A crash repeats the events after the last checkpoint, which changes nothing. */
const CHECKPOINT_EVENTS = 100;
const CHECKPOINT_MS = 5_000;
/** Several checkpoints long: a node that missed them all is dead or very slow, and another one continues. */
const CLAIM_MS = 20_000;
const WAIT_MS = 1_000;
const AT_ONCE_MAX = 16;
const BATCHES_A_SECOND = 20;
/** A replay that the log slowed down may exceed its rate by this much to catch up. */
const BEHIND_MAX_MS = 250;

const S = 1_000;

type Place = { readonly cursor: ReplayCursor | null; readonly skipped: number };

/** Works through the running replays. An event's stream lets a replay take effect once, so a repeat changes nothing. */
export const replaysLoop = (deps: ReplaysDeps): ReplaysLoop => {
  const { log, views, aggregates, clock, node, onError } = deps;
  const working = new Map<string, { readonly account: string; readonly ended: Promise<void> }>();
  let isStarted = false;

  const envelopeOf = (account: string): Envelope =>
    systemEnvelope({
      actor: "replays",
      commandId: randomId("cmd_", deps.randomness),
      account,
      at: new Date(clock.now()).toISOString(),
    });

  const isTaken = ({ claim }: BegunReplay): boolean =>
    claim !== null &&
    claim.node !== node &&
    !deps.othersAreGone &&
    Math.abs(clock.now() - Date.parse(claim.at)) < CLAIM_MS;

  /** Null if the replay has ended or another node works on it. */
  const own = async (id: string, maxAgeMs?: number): Promise<BegunReplay | null> => {
    const { state } = await aggregates.load(replayDecider, replayStream(id), maxAgeMs);
    return state.phase !== "running" || isTaken(state) || looks.isStopping() ? null : state;
  };

  const tell = (id: string, account: string, command: ReplayCommand) =>
    aggregates.handle(replayDecider, replayStream(id), command, envelopeOf(account));

  const checkpoint = async (id: string, account: string, { cursor, skipped }: Place): Promise<boolean> => {
    const at = new Date(clock.now()).toISOString();
    const done = await tell(id, account, { type: "ProgressReplay", cursor, skipped, node, at });
    return done.outcome !== "rejected";
  };

  /** In a copied log, positions differ: the replay's first record stands right after all events that it selected. */
  const snapshotOf = async ({ started }: BegunReplay): Promise<Position | null> => {
    const { replay_id: id, up_to, log: of } = started;
    if (of === undefined || of === (await log.identity())) return up_to;
    const [record] = await log.read(replayStream(id), null, 1);
    return record?.position ?? up_to;
  };

  const replayOne = async ({ started }: BegunReplay, upTo: Position | null, eventId: string): Promise<boolean> => {
    const { replay_id: id, account, by, reason } = started;
    const envelope: Envelope = { ...envelopeOf(account), commandId: `${id}/${eventId}`, actor: by };
    try {
      const { outcome } = await deps.replaying({ eventId, replay: { id, by, reason }, envelope, upTo });
      return outcome !== "refused";
    } catch (error) {
      if (error instanceof LogUnavailable || error instanceof OutcomeUnknown) throw error;
      onError(error);
      return false;
    }
  };

  const work = async (id: string): Promise<void> => {
    const begun = await own(id, 0);
    if (begun === null) return;
    const { account, filter, rate_per_second: rate } = begun.started;
    const upTo = await snapshotOf(begun);
    if (!(await isShownUpTo(views, upTo))) return;
    let place: Place = begun;
    if (begun.claim?.node !== node && !(await checkpoint(id, account, place))) return;
    const choice = { account, filter, upTo, limit: CHECKPOINT_EVENTS };
    let since = { events: 0, atMs: performance.now() };
    let dueMs = performance.now();
    const size = Math.min(AT_ONCE_MAX, Math.max(1, Math.floor(rate / BATCHES_A_SECOND)));
    for (;;) {
      if ((await own(id)) === null) return;
      const { chosen, next } = await chosenAfter(views, place.cursor, choice);
      // Checked after the page was read: the cursor must not pass events that a view under rebuild did not list yet.
      if (!(await isShownUpTo(views, upTo))) return;
      for (let from = 0; from < chosen.length; from += size) {
        const batch = chosen.slice(from, from + size);
        await untilDue(dueMs);
        const state = await own(id);
        if (state === null) return;
        const replayed = await Promise.all(batch.map((it) => replayOne(state, upTo, it.id)));
        const last = batch.at(-1);
        const skipped = place.skipped + replayed.filter((isReplayed) => !isReplayed).length;
        if (last !== undefined) place = { cursor: { received_at: last.received_at, id: last.id }, skipped };
        dueMs = Math.max(dueMs, performance.now() - BEHIND_MAX_MS) + (batch.length * S) / rate;
        since = { ...since, events: since.events + batch.length };
        if (since.events < CHECKPOINT_EVENTS && performance.now() - since.atMs < CHECKPOINT_MS) continue;
        if (!(await checkpoint(id, account, place))) return;
        since = { events: 0, atMs: performance.now() };
      }
      if (next === null) break;
      place = { ...place, cursor: next };
    }
    if (since.events > 0 && !(await checkpoint(id, account, place))) return;
    await tell(id, account, { type: "FinishReplay", at: new Date(clock.now()).toISOString() });
  };

  const untilDue = async (dueMs: number): Promise<void> => {
    while (!looks.isStopping()) {
      const leftMs = dueMs - performance.now();
      if (leftMs <= 0) return;
      await new Promise((resolve) => setTimeout(resolve, Math.min(leftMs, WAIT_MS)));
    }
  };

  const isFull = (account: string): boolean =>
    [...working.values()].filter((it) => it.account === account).length >= OF_ACCOUNT_MAX;

  const begin = (id: string, account: string): void => {
    if (!isStarted || looks.isStopping() || working.has(id) || working.size >= RUNNING_MAX || isFull(account)) return;
    const ended = work(id)
      .catch(onError)
      .finally(() => working.delete(id));
    working.set(id, { account, ended });
  };

  const look = async (): Promise<void> => {
    const where = [{ field: "status", is: "=", value: "running" }] as const;
    const sort = { field: "started_at", order: "asc" } as const;
    let last: FoundDocument | undefined;
    do {
      const after = last === undefined ? undefined : { value: String(last.document.started_at), id: last.id };
      const found = await views.page(replaysView.schema.name, {
        where,
        sort,
        limit: RUNNING_MAX,
        ...defined({ after }),
      });
      for (const { id, document } of found) begin(id, String(document.account));
      last = found.length < RUNNING_MAX ? undefined : found.at(-1);
    } while (last !== undefined && working.size < RUNNING_MAX);
  };

  const looks = pollLoop(look, LOOK_MS, onError);

  return {
    start() {
      isStarted = true;
      looks.start();
    },
    async stop() {
      await looks.stop();
      await Promise.all([...working.values()].map(({ ended }) => ended));
    },
    begin,
  };
};
