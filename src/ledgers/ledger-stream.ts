import type { JsonObject } from "../../domain/json.ts";
import { checkpointOf, restoring } from "../../domain/ledger/checkpoint.ts";
import type { LedgerCommand } from "../../domain/ledger/commands.ts";
import { type Answer, decideLedger, isHeld } from "../../domain/ledger/decider.ts";
import type { Carried, LedgerCheckpoint, LedgerEvent } from "../../domain/ledger/events.ts";
import { windowMsOf } from "../../domain/ledger/loop.ts";
import { carriedFrom, emptyLedger, evolveLedger, type Ledger, type Place } from "../../domain/ledger/state.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, RecordedEvent, Revision } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";
import { type Envelope, type Fact, NO_TRACE, systemEnvelope, type Trace, toEvents } from "../streams/envelope.ts";
import { appendKnown } from "../streams/run-command.ts";

/**
 * What became of an event that holds a place in a ledger. "free": it was not admitted and, from this answer on, cannot be
 * by a request that had reserved the place before the question. "spent": it was, and that for what it reserved unless a
 * cost says otherwise (micro-euros). "open": it is still to be decided. "kept": it holds the place until it ends, and
 * whatever ends it settles it.
 */
export type PlaceStatus = "free" | "spent" | "open" | "kept" | { readonly spent: number };

export type LedgerFigures = {
  /** Micro-euros. */
  readonly reserved: number;
  readonly settled: number;
  /** The part of `settled` that was more than had been reserved. */
  readonly overrun: number;
  /** Places. */
  readonly open: number;
  readonly spent: number;
};

export type LedgerDeps = {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly placeStatus: (account: string, event: string, stream: string) => Promise<PlaceStatus>;
  /**
   * How old a place from before the start of this process has to be to be asked after: 0 where no other node can hold it.
   * Any other place is asked after when it is `ORPHAN_AGE_MS` old.
   */
  readonly orphanAgeMs: number;
  /** Told how many commands each append has decided. */
  readonly onBatch?: (commands: number) => void;
  /** Told of each failure outside the path of a request; that work is tried again. */
  readonly onError: (error: unknown) => void;
};

/** One append decides so many commands at most: a record stays far below the 1 MiB of an append. */
const BATCH_MAX = 1_000;
/** Commands that may wait for the append in flight; beyond, the sender is told to come again. */
const QUEUE_MAX = 10_000;
const READ_PAGE = 1_000;
const ATTEMPTS_MAX = 64;
/** A ledger is folded from its newest checkpoint, so that opening one reads at most about so many records. */
const CHECKPOINT_EVERY = 1_000;
/** A checkpoint lists every open place: with more of them it waits until some are settled. */
const CHECKPOINT_OPEN_MAX = 2_000;
/** As well with more names that were charged, which a day of an account seldom has: a checkpoint has 1 MB. */
const CHECKPOINT_CHARGED_MAX = 5_000;
/** A place whose event has not appeared by then belongs to a request that died. */
export const ORPHAN_AGE_MS = 30_000;
/** Between two questions after old places that a full ledger asks: one that is held for long costs a look each time. */
const ORPHAN_GAP_MS = 5_000;
/** A sweep does not ask again so soon about a place that is held by right: the slot of a source is held for years. */
const ALIVE_MS = 60 * 60 * 1_000;

/** `ledgers` adds these for its streams. */
export type LedgerStreamDeps = LedgerDeps & {
  /** When this process started; ms since 1970. */
  readonly startedAt: number;
  /** Is handed work that no request waits for. */
  readonly later: (work: Promise<unknown>) => void;
  /** Told how many places and names are in memory here, each time that may have changed. */
  readonly onSize: (size: number) => void;
};

/** `upTo`: the newest reservation of the place when the question is asked. The answer is about that one and those before it. */
type Suspect = { readonly event: string; readonly upTo: number };

/** `isKept`: the end of the event will be told here. It is known of the reservations up to `upTo`, since `at` (ms since 1970). */
type Alive = { readonly at: number; readonly isKept: boolean; readonly upTo: number };

const newestOf = ({ reservations }: Place): number => reservations.at(-1) ?? 0;

/** Each is a read or two; a ledger may have thousands of places whose events are held or retried. */
const FATES_AT_ONCE = 16;

type Waiting = {
  readonly command: LedgerCommand;
  readonly trace: Trace;
  readonly resolve: (answer: Answer | "closed") => void;
  readonly reject: (error: unknown) => void;
};

/** The one writer, in this process, of a ledger stream. */
export type LedgerStream = {
  /** "closed": the next day has begun. Rejects with LogUnavailable or OutcomeUnknown. */
  submit(command: LedgerCommand, trace: Trace): Promise<Answer | "closed">;
  /** What a reservation would be answered at this moment. Nothing is reserved. */
  ask(command: LedgerCommand): Promise<Answer | "closed">;
  /** Ends the day: nothing is reserved here afterwards. Answers what the next one is opened with. */
  close(trace: Trace): Promise<Carried>;
  /** Begins the day, unless another node has. */
  open(carried: Carried, trace: Trace): Promise<void>;
  /** Gives back the places of requests that died. */
  sweep(): Promise<void>;
  /** Asks what became of one event, and gives its place back by that, or settles it. */
  resolve(event: string): Promise<void>;
  /** As the log has it at this moment, without the places of requests that died. */
  figures(): Promise<LedgerFigures>;
  /** The events that hold open places, in the order in which they took them. */
  holders(): Promise<readonly string[]>;
  /** Whether something is under way or waits here: else it can be forgotten, and is read again from its stream. */
  busy(): boolean;
  /** Whether events hold places, as far as is known here. */
  hasPlaces(): boolean;
};

export const ledgerStream = (stream: string, account: string, deps: LedgerStreamDeps): LedgerStream => {
  const { log, clock } = deps;
  const windowMs = windowMsOf(stream);
  let ledger: Ledger = emptyLedger(windowMs);
  let revision: Revision | null = null;
  let checkpointed = -1;
  let askedAt = Number.NEGATIVE_INFINITY;
  /** The events that were found to hold their places by right. */
  const alive = new Map<string, Alive>();
  /** How many calls have begun here and not ended. */
  let underWay = 0;
  let sweeping: Promise<void> | null = null;
  let ready: Promise<void> | null = null;
  let running = false;
  let turn: Promise<void> = Promise.resolve();
  const queue: Waiting[] = [];

  const envelope = (trace: Trace): Envelope =>
    systemEnvelope({
      actor: "ledger",
      commandId: randomId("cmd_", deps.randomness),
      account,
      trace,
      at: new Date(clock.now()).toISOString(),
    });

  const evolve = (event: RecordedEvent | (Fact & { revision: Revision })): void => {
    // A ledger's stream holds ledger events alone.
    evolveLedger(ledger, event as unknown as LedgerEvent, event.revision);
    revision = event.revision;
  };

  const catchUp = async (): Promise<void> => {
    for (;;) {
      const page = await log.read(stream, revision, READ_PAGE);
      for (const event of page) evolve(event);
      if (page.length < READ_PAGE) return;
    }
  };

  const append = async (facts: readonly LedgerEvent[], trace: Trace): Promise<boolean> => {
    const appended = await appendKnown(log, stream, revision ?? "absent", toEvents(facts, envelope(trace)));
    if (appended.outcome === "conflict") {
      await catchUp();
      return false;
    }
    for (const [index, fact] of facts.entries()) {
      evolve({ ...fact, revision: appended.revision - facts.length + 1 + index });
    }
    return true;
  };

  /** Asks what became of the events. It needs no turn: each answer names the reservations that it is about. */
  const ask = async (suspects: readonly Suspect[]): Promise<readonly LedgerCommand[]> => {
    const commands: LedgerCommand[] = [];
    const one = async ({ event, upTo }: Suspect): Promise<void> => {
      const status = await deps.placeStatus(account, event, stream);
      if (status === "open" || status === "kept")
        alive.set(event, { at: clock.now(), isKept: status === "kept", upTo });
      else if (status === "free") commands.push({ type: "Release", event, upTo });
      // Without a cost it is what the place costs by then: a later reservation, which has won, may have raised it.
      else commands.push({ type: "Settle", event, upTo, ...(status === "spent" ? {} : { cost: status.spent }) });
    };
    for (let from = 0; from < suspects.length; from += FATES_AT_ONCE) {
      await Promise.all(suspects.slice(from, from + FATES_AT_ONCE).map(one));
    }
    return commands;
  };

  /** Writes down what was answered. Reservations that were made since the question was asked stay as they are. */
  const conclude = async (commands: readonly LedgerCommand[]): Promise<void> => {
    for (let from = 0; from < commands.length; from += BATCH_MAX) {
      const batch = commands.slice(from, from + BATCH_MAX);
      for (;;) {
        const { events } = decideLedger(ledger, batch, clock.now());
        if (events.length === 0 || (await append(events, NO_TRACE))) break;
      }
    }
  };

  const suspectOf = ([event, place]: readonly [string, Place]): Suspect => ({
    event,
    upTo: newestOf(place),
  });

  /** The places whose requests may have died, without those that are known to be held by right. */
  const suspected = (isAlive: (known: Alive) => boolean): readonly Suspect[] => {
    const now = clock.now();
    // The requests of this process are under way, however soon it reads the ledger again.
    const bornBefore = Math.max(now - ORPHAN_AGE_MS, Math.min(deps.startedAt, now - deps.orphanAgeMs));
    return [...ledger.open]
      .filter(([event, place]) => {
        if (place.at > bornBefore) return false;
        const known = alive.get(event);
        return known === undefined || known.upTo < newestOf(place) || !isAlive(known);
      })
      .map(suspectOf);
  };

  /**
   * Looks for room before a refusal: what other nodes have given back meanwhile is free, and so is what dead requests hold.
   * An append would show that this node is behind, but a refusal appends nothing.
   */
  const makeRoom = async (): Promise<void> => {
    await catchUp();
    const now = clock.now();
    const suspects = suspected(({ isKept }) => isKept);
    // A clock that was set back must not put it off for longer.
    if (Math.abs(now - askedAt) < ORPHAN_GAP_MS || suspects.length === 0) return;
    askedAt = now;
    await conclude(await ask(suspects));
  };

  const load = async (): Promise<void> => {
    ledger = emptyLedger(windowMs);
    revision = null;
    const last = await log.last(`checkpoint-${stream}`);
    if (last !== null) {
      const checkpoint = last.data as unknown as LedgerCheckpoint;
      const restored = restoring(checkpoint, windowMs);
      for (let after = checkpoint.window_from - 1; after < checkpoint.revision; ) {
        const page = await log.read(stream, after < 0 ? null : after, READ_PAGE);
        for (const event of page) {
          after = event.revision;
          if (after <= checkpoint.revision) restored.refill(event as unknown as LedgerEvent, after);
        }
        if (page.length === 0) break;
      }
      ledger = restored.ledger();
      revision = checkpoint.revision;
      checkpointed = checkpoint.revision;
    }
    await catchUp();
  };

  const loaded = (): Promise<void> => {
    ready ??= load().then(
      () => {
        // A ledger that is read again may have been forgotten with places of dead requests in it.
        if (ledger.open.size > 0) deps.later(sweep());
      },
      (error: unknown) => {
        ready = null;
        throw error;
      },
    );
    return ready;
  };

  const checkpoint = (): void => {
    if (revision === null || revision - checkpointed < CHECKPOINT_EVERY) return;
    if (ledger.open.size > CHECKPOINT_OPEN_MAX || ledger.charged.size > CHECKPOINT_CHARGED_MAX) return;
    checkpointed = revision;
    const data = checkpointOf(ledger, revision) as unknown as JsonObject;
    const events = toEvents([{ type: "LedgerCheckpointed", data }], envelope(NO_TRACE));
    // Only speed is lost without it, so nobody waits for it.
    log.append(`checkpoint-${stream}`, "any", events).catch(deps.onError);
  };

  const settleBatch = async (batch: readonly Waiting[]): Promise<void> => {
    let isFresh = false;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const [open, late] = ledger.closed ? split(batch) : [batch, []];
      const commands = open.map((waiting) => waiting.command);
      const decision = decideLedger(ledger, commands, clock.now());
      if (!isFresh && comesToNothing(ledger, commands, decision.answers)) {
        isFresh = true;
        const known = revision;
        await makeRoom();
        if (revision !== known) continue;
      }
      const [first] = batch;
      if (decision.events.length > 0 && first !== undefined) {
        if (!(await append(decision.events, first.trace))) continue;
        deps.onBatch?.(open.length);
      }
      for (const waiting of late) waiting.resolve("closed");
      for (const [index, waiting] of open.entries()) waiting.resolve(decision.answers[index] ?? { granted: false });
      return;
    }
    throw new LogUnavailable(`${stream} is written by too many at once`);
  };

  const told = (): void => deps.onSize(ledger.open.size + ledger.recent.size + ledger.charged.size + alive.size);

  /** Does one work at a time, so that each append is decided on everything that was appended before it. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(loaded).then(work);
    turn = mine.then(told, () => {
      // The append may have been written or not, so the ledger is read again.
      ready = null;
      told();
    });
    return mine;
  };

  const during = async <T>(work: () => Promise<T>): Promise<T> => {
    underWay += 1;
    try {
      return await work();
    } finally {
      underWay -= 1;
    }
  };

  const sweep = (): Promise<void> => {
    sweeping ??= during(async () => {
      const suspects = await inTurn(async () => {
        for (const event of alive.keys()) if (!ledger.open.has(event)) alive.delete(event);
        const askBefore = clock.now() - ALIVE_MS;
        return suspected(({ at }) => at > askBefore);
      });
      if (suspects.length === 0) return;
      const commands = await ask(suspects);
      if (commands.length > 0) await inTurn(() => conclude(commands));
    }).finally(() => {
      sweeping = null;
    });
    return sweeping;
  };

  const run = async (): Promise<void> => {
    running = true;
    while (queue.length > 0) {
      const batch = queue.splice(0, BATCH_MAX);
      try {
        await inTurn(() => settleBatch(batch));
        checkpoint();
      } catch (error) {
        for (const waiting of batch) waiting.reject(error);
      }
    }
    running = false;
  };

  return {
    submit(command, trace) {
      if (queue.length >= QUEUE_MAX) return Promise.reject(new LogUnavailable(`${stream} has too many waiting`));
      return new Promise((resolve, reject) => {
        queue.push({ command, trace, resolve, reject });
        if (!running) void run();
      });
    },
    ask: (command) =>
      during(() =>
        inTurn(async () => {
          const answer = (): Answer | "closed" =>
            ledger.closed ? "closed" : (decideLedger(ledger, [command], clock.now()).answers[0] ?? { granted: false });
          const first = answer();
          if (first === "closed" || first.granted) return first;
          await makeRoom();
          return answer();
        }),
      ),
    close: (trace) =>
      during(() =>
        inTurn(async () => {
          while (!ledger.closed) {
            await append([{ type: "LedgerClosed", data: { at: clock.now() } }], trace);
          }
          return carriedFrom(ledger, clock.now());
        }),
      ),
    open: (carried, trace) =>
      during(() =>
        inTurn(async () => {
          if (revision === null) await append([{ type: "LedgerOpened", data: carried }], trace);
        }),
      ),
    sweep,
    resolve: (event) =>
      during(async () => {
        const place = await inTurn(async () => {
          await catchUp();
          return ledger.open.get(event);
        });
        if (place === undefined) return;
        const commands = await ask([suspectOf([event, place])]);
        if (commands.length > 0) await inTurn(() => conclude(commands));
      }),
    figures: () =>
      during(async () => {
        await sweep();
        return inTurn(async () => {
          await catchUp();
          const { reserved, settled, overrun, openCount: open, settledCount: spent } = ledger;
          return { reserved, settled, overrun, open, spent };
        });
      }),
    holders: () =>
      during(() =>
        inTurn(async () => {
          await catchUp();
          return [...ledger.open.keys()];
        }),
      ),
    busy: () => running || queue.length > 0 || underWay > 0,
    hasPlaces: () => ledger.open.size > 0,
  };
};

/** Whether one of them is refused, or settles or gives back a reservation that is not known here. */
const comesToNothing = (ledger: Ledger, commands: readonly LedgerCommand[], answers: readonly Answer[]): boolean =>
  commands.some((command, index) => {
    if (command.type === "Reserve") return answers[index]?.granted !== true;
    return command.type !== "Charge" && !isHeld(ledger, command);
  });

/** In a closed ledger places are still settled and given back, and what was spent is charged; none is reserved. */
const split = (batch: readonly Waiting[]): readonly [readonly Waiting[], readonly Waiting[]] => [
  batch.filter((waiting) => waiting.command.type !== "Reserve"),
  batch.filter((waiting) => waiting.command.type === "Reserve"),
];
