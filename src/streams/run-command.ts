import type { Decider } from "../../domain/decider.ts";
import { eventOf } from "../../domain/events.ts";
import type {
  AppendAnswered,
  EventLog,
  Expected,
  Position,
  RecordedEvent,
  Revision,
} from "../../domain/ports/event-log.ts";
import { LogUnavailable, OutcomeUnknown } from "../../infra/log-errors.ts";
import { type Envelope, type Fact, toEvents } from "./envelope.ts";

/** `revision` is null if no record of the stream was read; `position` is that of the last record read. */
export type StreamState<S> = {
  readonly state: S;
  readonly revision: Revision | null;
  readonly position?: Position | undefined;
};

export type Foldable<S, E> = Pick<Decider<S, never, E, unknown>, "initial" | "evolve">;

export type CommandResult<S, R> =
  | { readonly outcome: "accepted"; readonly known: StreamState<S>; readonly position: Position }
  | { readonly outcome: "unchanged"; readonly known: StreamState<S>; readonly position: Position | undefined }
  | { readonly outcome: "rejected"; readonly rejection: R; readonly known: StreamState<S> };

export const latestOf = (...positions: readonly (Position | undefined)[]): Position | undefined =>
  positions.reduce(
    (latest, it) => (latest === undefined || (it !== undefined && it > latest) ? it : latest),
    undefined,
  );

const READ_PAGE = 500;
const ATTEMPTS_MAX = 16;
const UNKNOWN_RETRIES_MAX = 3;

type FoldOptions<S> = {
  readonly from?: StreamState<S>;
  readonly onEvent?: (event: RecordedEvent) => void;
};

export const foldStream = async <S, E extends Fact>(
  log: Pick<EventLog, "read">,
  decider: Foldable<S, E>,
  stream: string,
  { from = { state: decider.initial, revision: null }, onEvent }: FoldOptions<S> = {},
): Promise<StreamState<S>> => {
  let { state, revision, position } = from;
  for (;;) {
    const page = await log.read(stream, revision, READ_PAGE);
    for (const event of page) {
      state = decider.evolve(state, eventOf<E>(event));
      revision = event.revision;
      position = event.position;
      onEvent?.(event);
    }
    if (page.length < READ_PAGE) return { state, revision, position };
  }
};

const untilKnown = async <T>(append: () => Promise<T>): Promise<T> => {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await append();
    } catch (error) {
      if (!(error instanceof OutcomeUnknown) || attempt >= UNKNOWN_RETRIES_MAX) throw error;
    }
  }
};

/** Repeats an append whose outcome is unknown with the same ids and revision, so that it takes effect once. */
export const appendKnown = (
  log: Pick<EventLog, "append">,
  stream: string,
  expected: Exclude<Expected, "any">,
  events: Parameters<EventLog["append"]>[2],
): ReturnType<EventLog["append"]> => untilKnown(() => log.append(stream, expected, events));

/** Like `appendKnown`, for a group. */
export const appendGroupKnown = (
  log: Pick<EventLog, "appendGroup">,
  appends: Parameters<EventLog["appendGroup"]>[0],
  onAnswer?: AppendAnswered,
): ReturnType<EventLog["appendGroup"]> => untilKnown(() => log.appendGroup(appends, onAnswer));

type CommandRun<S, C, E, R> = {
  readonly decider: Decider<S, C, E, R>;
  readonly stream: string;
  /** The state to begin with; if left out, the stream is read. A stale state costs a round, never a wrong record. */
  readonly from?: StreamState<S> | undefined;
  readonly envelope: Envelope;
};

/** Runs a command that depends on other streams: after each conflict the stream is read and `derive` asked again. */
export const runDerived = async <S, C, E extends Fact, R>(
  log: EventLog,
  run: CommandRun<S, C, E, R> & { readonly derive: (state: S) => C | Promise<C> },
): Promise<CommandResult<S, R>> => {
  const { decider, stream, envelope, derive } = run;
  let repeated = false;
  const onEvent = (event: RecordedEvent): void => {
    repeated ||= event.meta.command_id === envelope.commandId;
  };
  let known = run.from ?? (await foldStream(log, decider, stream));
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    if (repeated) return { outcome: "unchanged", known, position: known.position };
    const decision = decider.decide(await derive(known.state), known.state);
    if (!decision.ok) return { outcome: "rejected", rejection: decision.rejection, known };
    if (decision.events.length === 0) return { outcome: "unchanged", known, position: known.position };
    const appended = await appendKnown(log, stream, known.revision ?? "absent", toEvents(decision.events, envelope));
    if (appended.outcome === "appended") {
      const state = decision.events.reduce(decider.evolve, known.state);
      const { revision, position } = appended;
      return { outcome: "accepted", known: { state, revision, position }, position };
    }
    known = await foldStream(log, decider, stream, { from: known, onEvent });
  }
  throw new LogUnavailable(`${stream} is written by too many at once`);
};

export const runCommand = <S, C, E extends Fact, R>(
  log: EventLog,
  { command, ...run }: CommandRun<S, C, E, R> & { readonly command: C },
): Promise<CommandResult<S, R>> => runDerived(log, { ...run, derive: () => command });
