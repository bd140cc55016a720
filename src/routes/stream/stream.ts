import type { Position } from "../../../domain/ports/event-log.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { watchCredential } from "../../accounts/credentials.ts";
import { FRAMES_PER_SECOND } from "../../feed/change-follower.ts";
import { ChangeReader, type ChangeReaderDeps, MISSED_MAX } from "../../feed/change-reader.ts";
import { changeStream } from "../../feed/change-stream.ts";
import { EVENT_STREAM_HEADERS, EVENT_STREAM_TIMES, type EventStreamTimes } from "../../feed/sent-events.ts";
import { TOPICS, type Topic, VIEW_OF } from "../../feed/topics.ts";
import { type AnswerLimits, answerSlots } from "../../http/answer-slots.ts";
import { POSITION_PATTERN, type PositionText } from "../../http/position-text.ts";
import { type Answer, type Call, type JsonSchema, READERS, type Route, route } from "../../http/route.ts";
import { valuesOf } from "../../http/several-values.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { type Problem, problem } from "../../streams/problems.ts";

export type StreamDeps = Omit<ChangeReaderDeps, "views"> & {
  readonly views: Pick<ViewStore, "position" | "getMany">;
  readonly aggregates: Pick<Aggregates, "watch">;
  readonly positions: PositionText;
  readonly limits?: Partial<EventStreamTimes & AnswerLimits>;
};

const STREAM_LIMITS = {
  ...EVENT_STREAM_TIMES,
  /** A browser needs one for all its tabs. */
  callerMax: 5,
  accountMax: 50,
  /** Each stream takes a connection and, if its client is slow, some 20 KiB. */
  max: 2_000,
} as const satisfies EventStreamTimes & AnswerLimits;

const LAST_EVENT_ID = "last-event-id";
const ONE_TOPIC = TOPICS.join("|");

const QUERY = {
  topics: {
    type: "string",
    pattern: `^(${ONE_TOPIC})(,(${ONE_TOPIC}))*$`,
    description: `One or several of ${TOPICS.join(", ")}, separated by commas. Left out: all. The topic account tells of members and keys as well`,
  },
  after: {
    type: "string",
    pattern: POSITION_PATTERN,
    description:
      "The stream begins after this position, such as the `Countersign-View-Position` of a list that was read before: " +
      "nothing is missed between the two. `Last-Event-ID` goes before it. Left out: it begins now.",
  },
} as const satisfies Record<string, JsonSchema>;

type Asked = Call<{ query: typeof QUERY }>;

/** Undefined without an id and a position; null if the id is none of this log. */
const resumedFrom = ({ positions }: StreamDeps, call: Asked): Position | null | undefined => {
  const id = call.headers[LAST_EVENT_ID] || call.query.after;
  return id === undefined ? undefined : positions.read(id);
};

const unknownId = (): Problem =>
  problem("invalid-request", "The Last-Event-ID does not belong to this stream.", {
    errors: [{ path: `/${LAST_EVENT_ID}`, message: "must be the id of an event of this stream" }],
  });

const follow = (deps: StreamDeps) => {
  const times = { ...STREAM_LIMITS, ...deps.limits };
  const slots = answerSlots("streams", times);
  const reader = new ChangeReader(deps);

  const opened = async (call: Asked, after: Position | undefined): Promise<Answer> => {
    const { principal } = call;
    // The pattern of the parameter has no others.
    const topics = call.query.topics === undefined ? TOPICS : (valuesOf(call.query.topics) as Topic[]);
    const follower = await reader.follow(principal.account, topics, after);
    const body = changeStream({
      follower,
      begin: after ?? follower.position(),
      views: deps.views,
      positions: deps.positions,
      isStillAllowed: call.isStillAllowed,
      watchCredential: watchCredential(deps.aggregates, principal),
      closing: call.closing,
      times,
      onEnd() {
        reader.end(follower);
        slots.giveBack(principal);
      },
    });
    return { status: 200, headers: EVENT_STREAM_HEADERS, body };
  };

  return async (call: Asked): Promise<Answer | Problem> => {
    const after = resumedFrom(deps, call);
    if (after === null) return unknownId();
    const refusal = slots.take(call.principal);
    if (refusal !== null) return refusal;
    try {
      return await opened(call, after);
    } catch (error) {
      slots.giveBack(call.principal);
      throw error;
    }
  };
};

export const streamRoutes = (deps: StreamDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/stream",
    who: READERS,
    summary: "Hear what changes in the account, as server-sent events without contents",
    tag: "events",
    query: QUERY,
    headers: {
      [LAST_EVENT_ID]: {
        type: "string",
        maxLength: 64,
        pattern: `${POSITION_PATTERN}|^$`,
        description:
          "The `id` that was received last: the stream continues after it. After a gap of more than " +
          `${MISSED_MAX} records each topic gets one event with \`changed: null\`.`,
      },
    },
    problems: ["overloaded"],
    answers: {
      200: {
        type: "string",
        description:
          "Each event's `data` is `{topic, id, status, position}`, once the lists show it; a status is null where there is " +
          `none. At most ${FRAMES_PER_SECOND} of a topic are sent in a second; more are one \`{topic, changed: n}\`. ` +
          `A member or key may have ${STREAM_LIMITS.callerMax} streams open, an account ${STREAM_LIMITS.accountMax}, on each node. ` +
          "The stream ends when its credential is revoked: at once, or within 2 s if another node revoked it.",
      },
    },
    produces: "text/event-stream",
    reads: Object.values(VIEW_OF),
    handle: follow(deps),
  }),
];
