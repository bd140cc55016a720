import type { Decider } from "../domain/decider.ts";
import type { Clock, EventLog, Expected, Position, RecordedEvent, Revision } from "../domain/ports.ts";
import { LogUnavailable, OutcomeUnknown } from "../infra/log-errors.ts";
import { type Envelope, type Fact, toEvents } from "./envelope.ts";

export type Loaded<S> = { readonly state: S; readonly revision: Revision | null };

export type Handled<S, R> =
  | { readonly outcome: "accepted"; readonly state: S; readonly position: Position; readonly revision: Revision }
  | { readonly outcome: "unchanged"; readonly state: S }
  | { readonly outcome: "rejected"; readonly rejection: R; readonly state: S };

export type Aggregates = {
  /** The state of a stream, at most `maxAgeMs` behind what another node may have appended. */
  load<S, E extends Fact>(decider: Foldable<S, E>, stream: string, maxAgeMs?: number): Promise<Loaded<S>>;
  /** Reads, decides, appends; on a conflict reads what is missing and decides again. Never re-sends a stale decision. */
  handle<S, C, E extends Fact, R>(
    decider: Decider<S, C, E, R>,
    stream: string,
    command: C,
    envelope: Envelope,
  ): Promise<Handled<S, R>>;
};

type Foldable<S, E> = Pick<Decider<S, never, E, unknown>, "initial" | "evolve">;

/** Streams kept folded in memory; the least recently used goes first. */
const CACHED_STREAMS_MAX = 10_000;
/** Commands remembered a stream, to recognise a repeat after a lost reply. */
const REMEMBERED_COMMANDS_MAX = 256;
const READ_PAGE = 500;
/** Each lost race means that another writer won: so many in a row is a stream that should be an actor's. */
const ATTEMPTS_MAX = 16;
/** How far a cached source, policy or key may be behind another node's change. Own changes are seen at once. */
export const STALENESS_MAX_MS = 100;

type Cached = {
  state: unknown;
  revision: Revision | null;
  readonly commands: Set<string>;
  checkedAt: number;
};

export const aggregates = (log: EventLog, clock: Clock): Aggregates => {
  const cache = new Map<string, Cached>();

  const cached = (stream: string, initial: unknown): Cached => {
    const entry = cache.get(stream) ?? {
      state: initial,
      revision: null,
      commands: new Set<string>(),
      checkedAt: Number.NEGATIVE_INFINITY,
    };
    cache.delete(stream);
    cache.set(stream, entry);
    if (cache.size > CACHED_STREAMS_MAX) {
      for (const oldest of cache.keys()) {
        cache.delete(oldest);
        break;
      }
    }
    return entry;
  };

  const apply = <S, E extends Fact>(entry: Cached, decider: Foldable<S, E>, events: readonly RecordedEvent[]): void => {
    for (const event of events) {
      // Two readers may be under way at once: whichever comes second finds the event applied.
      if (entry.revision !== null && event.revision <= entry.revision) continue;
      entry.state = decider.evolve(entry.state as S, event as unknown as E);
      entry.revision = event.revision;
      entry.commands.add(event.meta.command_id);
      if (entry.commands.size > REMEMBERED_COMMANDS_MAX) {
        const [first] = entry.commands;
        if (first !== undefined) entry.commands.delete(first);
      }
    }
  };

  const catchUp = async <S, E extends Fact>(entry: Cached, decider: Foldable<S, E>, stream: string): Promise<void> => {
    const startedAt = clock.now();
    for (;;) {
      const page = await log.read(stream, entry.revision, READ_PAGE);
      apply(entry, decider, page);
      if (page.length < READ_PAGE) break;
    }
    entry.checkedAt = startedAt;
  };

  return {
    async load(decider, stream, maxAgeMs = STALENESS_MAX_MS) {
      const entry = cached(stream, decider.initial);
      const age = clock.now() - entry.checkedAt;
      // A clock that was set back makes the age negative: look again then as well.
      if (age >= maxAgeMs || age < 0) await catchUp(entry, decider, stream);
      return { state: entry.state as typeof decider.initial, revision: entry.revision };
    },

    async handle(decider, stream, command, envelope) {
      type S = typeof decider.initial;
      const entry = cached(stream, decider.initial);
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
        await catchUp(entry, decider, stream);
        const state = entry.state as S;
        const revision = entry.revision;
        if (entry.commands.has(envelope.commandId)) return { outcome: "unchanged", state };
        const decision = decider.decide(command, state);
        if (!decision.ok) return { outcome: "rejected", rejection: decision.rejection, state };
        if (decision.events.length === 0) return { outcome: "unchanged", state };

        const events = toEvents(decision.events, envelope);
        const appended = await appendKnown(log, stream, revision ?? "absent", events);
        if (appended.outcome === "conflict") continue;
        const recorded = events.map(
          (event, index): RecordedEvent => ({
            ...event,
            stream,
            revision: appended.revision - events.length + 1 + index,
            position: appended.position,
          }),
        );
        if (recorded[0]?.revision === (entry.revision === null ? 0 : entry.revision + 1))
          apply(entry, decider, recorded);
        else await catchUp(entry, decider, stream);
        return {
          outcome: "accepted",
          state: entry.state as S,
          position: appended.position,
          revision: appended.revision,
        };
      }
      throw new LogUnavailable(`${stream} is written by too many at once`);
    },
  };
};

/** How often an append with an unknown outcome is sent again before the caller is told. */
const UNKNOWN_RETRIES_MAX = 3;

/** Appends, and after a lost reply sends the same append again: same ids, same revision, so it happens once. */
export const appendKnown: (
  log: EventLog,
  stream: string,
  expected: Exclude<Expected, "any">,
  events: Parameters<EventLog["append"]>[2],
) => ReturnType<EventLog["append"]> = async (log, stream, expected, events) => {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await log.append(stream, expected, events);
    } catch (error) {
      if (!(error instanceof OutcomeUnknown) || attempt >= UNKNOWN_RETRIES_MAX) throw error;
    }
  }
};
