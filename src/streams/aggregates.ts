import { LRUCache } from "lru-cache";
import type { Decider } from "../../domain/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position, RecordedEvent, Revision } from "../../domain/ports/event-log.ts";
import type { Envelope, Fact } from "./envelope.ts";
import type { OrPromise } from "./or-promise.ts";
import { type Foldable, foldStream, runDerived, type StreamState } from "./run-command.ts";

export type Handled<S, R> =
  | { readonly outcome: "accepted"; readonly state: S; readonly position: Position; readonly revision: Revision }
  | { readonly outcome: "unchanged"; readonly state: S; readonly position: Position | undefined }
  | { readonly outcome: "rejected"; readonly rejection: R; readonly state: S };

export type Aggregates = {
  /**
   * The folded stream, without a promise if it is at hand. Appends of other nodes may be missing from the state if they
   * are younger than `maxAgeMs`.
   */
  load<S, E extends Fact>(decider: Foldable<S, E>, stream: string, maxAgeMs?: number): OrPromise<StreamState<S>>;
  /**
   * The state as `load` would return it without reading; null if it is older than `STALENESS_MAX_MS`. A state that will
   * soon be too old is read again meanwhile, so a stream that is asked for often stays at hand.
   */
  atHand<S, E extends Fact>(decider: Foldable<S, E>, stream: string): StreamState<S> | null;
  handle<S, C, E extends Fact, R>(
    decider: Decider<S, C, E, R>,
    stream: string,
    command: C,
    envelope: Envelope,
  ): Promise<Handled<S, R>>;
  handleDerived<S, C, E extends Fact, R>(
    decider: Decider<S, C, E, R>,
    stream: string,
    derive: (state: S) => C | Promise<C>,
    envelope: Envelope,
  ): Promise<Handled<S, R>>;
  /** Calls `onChanged` when this process learns of new records in the stream, until the returned function is called. */
  watch(stream: string, onChanged: () => void): () => void;
};

const CACHED_STREAMS_MAX = 10_000;
/** So many command ids are remembered for a stream, so that a command sent again after a lost answer is recognised. */
const REMEMBERED_COMMANDS_MAX = 256;
/** Another node's change may take effect this many ms late, this process's own change takes effect at once. */
export const STALENESS_MAX_MS = 100;
/** A state of this age is read again before it is too old. */
const SOON_STALE_MS = 75;

type Cached = {
  known: StreamState<unknown>;
  readonly commands: Set<string>;
  checkedAt: number;
  looking: { readonly startedAt: number; readonly done: Promise<void> } | null;
};

const remember = (commands: Set<string>, commandId: string): void => {
  commands.add(commandId);
  if (commands.size <= REMEMBERED_COMMANDS_MAX) return;
  for (const oldest of commands) {
    commands.delete(oldest);
    return;
  }
};

class Watchers {
  readonly #byStream = new Map<string, Set<() => void>>();

  watch(stream: string, onChanged: () => void): () => void {
    const watcher = (): void => onChanged();
    this.#byStream.set(stream, (this.#byStream.get(stream) ?? new Set()).add(watcher));
    return () => {
      const others = this.#byStream.get(stream);
      others?.delete(watcher);
      if (others?.size === 0) this.#byStream.delete(stream);
    };
  }

  notify(stream: string): void {
    for (const onChanged of [...(this.#byStream.get(stream) ?? [])]) onChanged();
  }
}

export const aggregates = (log: EventLog, clock: Clock): Aggregates => {
  const cache = new LRUCache<string, Cached>({ max: CACHED_STREAMS_MAX });
  const watchers = new Watchers();

  const cached = (stream: string, initial: unknown): Cached => {
    const entry = cache.get(stream) ?? {
      known: { state: initial, revision: null },
      commands: new Set<string>(),
      checkedAt: Number.NEGATIVE_INFINITY,
      looking: null,
    };
    cache.set(stream, entry);
    return entry;
  };

  /** Keeps a state that was read, unless a read that overlapped has already brought a later revision. */
  const keep = (entry: Cached, known: StreamState<unknown>, stream: string): void => {
    const isNew = (known.revision ?? -1) > (entry.known.revision ?? -1);
    if (isNew || known.revision === entry.known.revision) entry.known = known;
    if (isNew) watchers.notify(stream);
  };

  const catchUp = async <S, E extends Fact>(entry: Cached, decider: Foldable<S, E>, stream: string): Promise<void> => {
    const startedAt = clock.now();
    const onEvent = (event: RecordedEvent): void => remember(entry.commands, event.meta.command_id);
    keep(entry, await foldStream(log, decider, stream, { from: entry.known as StreamState<S>, onEvent }), stream);
    entry.checkedAt = startedAt;
  };

  /** A negative age, after the clock was set back, counts as old. */
  const isYounger = (at: number, maxAgeMs: number): boolean => {
    const age = clock.now() - at;
    return age >= 0 && age < maxAgeMs;
  };

  /** Null if the state is too old. One that soon will be is read again meanwhile. */
  const atHand = <S, E extends Fact>(decider: Foldable<S, E>, stream: string): StreamState<S> | null => {
    const entry = cache.get(stream);
    if (entry === undefined) return null;
    const ageMs = clock.now() - entry.checkedAt;
    // A negative age, after the clock was set back, counts as old.
    if (ageMs < 0 || ageMs >= STALENESS_MAX_MS) return null;
    // If this read fails, the state becomes too old, and the next `load` fails with the same error.
    if (ageMs >= SOON_STALE_MS && entry.looking === null) look(entry, decider, stream).catch(() => undefined);
    return entry.known as StreamState<S>;
  };

  const look = async <S, E extends Fact>(entry: Cached, decider: Foldable<S, E>, stream: string): Promise<void> => {
    const looking = { startedAt: clock.now(), done: catchUp(entry, decider, stream) };
    entry.looking = looking;
    try {
      await looking.done;
    } finally {
      if (entry.looking === looking) entry.looking = null;
    }
  };

  const loadYounger = async <S, E extends Fact>(
    decider: Foldable<S, E>,
    stream: string,
    maxAgeMs: number,
  ): Promise<StreamState<S>> => {
    const entry = cached(stream, decider.initial);
    if (!isYounger(entry.checkedAt, maxAgeMs)) {
      const { looking } = entry;
      await (looking !== null && isYounger(looking.startedAt, maxAgeMs) ? looking.done : look(entry, decider, stream));
    }
    return entry.known as StreamState<S>;
  };

  const handleDerived: Aggregates["handleDerived"] = async <S, C, E extends Fact, R>(
    decider: Decider<S, C, E, R>,
    stream: string,
    derive: (state: S) => C | Promise<C>,
    envelope: Envelope,
  ): Promise<Handled<S, R>> => {
    const entry = cached(stream, decider.initial);
    await catchUp(entry, decider, stream);
    const known = entry.known as StreamState<S>;
    if (entry.commands.has(envelope.commandId)) {
      return { outcome: "unchanged", state: known.state, position: known.position };
    }
    const ran = await runDerived(log, { decider, stream, from: known, derive, envelope });
    keep(entry, ran.known, stream);
    const { state, revision } = ran.known;
    if (ran.outcome === "rejected") return { outcome: "rejected", rejection: ran.rejection, state };
    remember(entry.commands, envelope.commandId);
    if (ran.outcome === "unchanged") return { outcome: "unchanged", state, position: ran.position };
    return { outcome: "accepted", state, position: ran.position, revision: revision ?? 0 };
  };

  return {
    load(decider, stream, maxAgeMs = STALENESS_MAX_MS) {
      const known = maxAgeMs === STALENESS_MAX_MS ? atHand(decider, stream) : null;
      return known ?? loadYounger(decider, stream, maxAgeMs);
    },

    atHand,

    handle: (decider, stream, command, envelope) => handleDerived(decider, stream, () => command, envelope),
    handleDerived,

    watch: (stream, onChanged) => watchers.watch(stream, onChanged),
  };
};
