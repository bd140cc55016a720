import type { Decider } from "../../domain/decider.ts";
import type { EventLog, Expected, Position, RecordedEvent, Revision } from "../../domain/ports/event-log.ts";
import { LogUnavailable, OutcomeUnknown } from "../../infra/log-errors.ts";
import { type Envelope, type Fact, toEvents } from "./envelope.ts";

/**
 * The folded beginning of a stream: up to and with `revision`; null when nothing of it is known or there. `position` is that
 * of the record at `revision`: undefined when nothing was read yet.
 */
export type Known<S> = {
  readonly state: S;
  readonly revision: Revision | null;
  readonly position?: Position | undefined;
};

export type Foldable<S, E> = Pick<Decider<S, never, E, unknown>, "initial" | "evolve">;

export type Ran<S, R> =
  | { readonly outcome: "accepted"; readonly known: Known<S>; readonly position: Position }
  | { readonly outcome: "unchanged"; readonly known: Known<S>; readonly position: Position | undefined }
  | { readonly outcome: "rejected"; readonly rejection: R; readonly known: Known<S> };

/** The latest of these positions in the log; undefined when there is none. */
export const latestOf = (...positions: readonly (Position | undefined)[]): Position | undefined =>
  positions.reduce(
    (latest, it) => (latest === undefined || (it !== undefined && it > latest) ? it : latest),
    undefined,
  );

const READ_PAGE = 500;
/** Each lost race means that another writer won: so many in a row is a stream that should be an actor's. */
const ATTEMPTS_MAX = 16;
/** How often an append with an unknown outcome is sent again before the caller is told. */
const UNKNOWN_RETRIES_MAX = 3;

/** Folds what the stream has behind `known`; `seen` is shown each record. */
export const readOn = async <S, E extends Fact>(
  log: EventLog,
  decider: Foldable<S, E>,
  stream: string,
  known: Known<S>,
  seen?: (event: RecordedEvent) => void,
): Promise<Known<S>> => {
  let { state, revision, position } = known;
  for (;;) {
    const page = await log.read(stream, revision, READ_PAGE);
    for (const event of page) {
      // The stream's category says which events are in it; the log itself knows only JSON.
      state = decider.evolve(state, event as unknown as E);
      revision = event.revision;
      position = event.position;
      seen?.(event);
    }
    if (page.length < READ_PAGE) return { state, revision, position };
  }
};

/** Appends, and after a lost reply sends the same append again: same ids, same revision, so it happens once. */
export const appendKnown = async (
  log: Pick<EventLog, "append">,
  stream: string,
  expected: Exclude<Expected, "any">,
  events: Parameters<EventLog["append"]>[2],
): ReturnType<EventLog["append"]> => {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await log.append(stream, expected, events);
    } catch (error) {
      if (!(error instanceof OutcomeUnknown) || attempt >= UNKNOWN_RETRIES_MAX) throw error;
    }
  }
};

/**
 * As `runCommand`, with a command that depends on something outside the stream. `look` is asked for it each time the stream
 * has been read, so whatever is appended to the stream after the look makes it look again.
 */
export const runLooked = async <S, C, E extends Fact, R>(
  log: EventLog,
  decider: Decider<S, C, E, R>,
  stream: string,
  from: Known<S>,
  look: (state: S) => C | Promise<C>,
  envelope: Envelope,
): Promise<Ran<S, R>> => {
  let known = from;
  let repeated = false;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    if (repeated) return { outcome: "unchanged", known, position: known.position };
    const decision = decider.decide(await look(known.state), known.state);
    if (!decision.ok) return { outcome: "rejected", rejection: decision.rejection, known };
    if (decision.events.length === 0) return { outcome: "unchanged", known, position: known.position };
    const appended = await appendKnown(log, stream, known.revision ?? "absent", toEvents(decision.events, envelope));
    if (appended.outcome === "appended") {
      const state = decision.events.reduce(decider.evolve, known.state);
      const { revision, position } = appended;
      return { outcome: "accepted", known: { state, revision, position }, position };
    }
    known = await readOn(log, decider, stream, known, (event) => {
      repeated ||= event.meta.command_id === envelope.commandId;
    });
  }
  throw new LogUnavailable(`${stream} is written by too many at once`);
};

/**
 * Decides on what is known of a stream and appends with its revision. On a conflict reads what is missing and decides
 * again: a stale decision is never sent twice. A stale `known` therefore costs a round, never a wrong event.
 */
export const runCommand = <S, C, E extends Fact, R>(
  log: EventLog,
  decider: Decider<S, C, E, R>,
  stream: string,
  from: Known<S>,
  command: C,
  envelope: Envelope,
): Promise<Ran<S, R>> => runLooked(log, decider, stream, from, () => command, envelope);
