import shared from "@eventstore/db-client/generated/shared_pb.js";
import type rpc from "@eventstore/db-client/generated/status_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import type { ServerDuplexStream } from "@grpc/grpc-js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import { type Answer, answerWrite } from "./answer-write.ts";
import type { Decision, Expected } from "./append.ts";
import { appending, expectedOf } from "./append-request.ts";
import type { Context } from "./context.ts";
import type { Proposed } from "./state.ts";
import {
  allPosition,
  appendTooLargeStatus,
  badRequestStatus,
  identifierOf,
  nameOf,
  proposed,
  requiresLeader,
  streamDeletedStatus,
  timeoutStatus,
  wrongExpectedVersionStatus,
} from "./wire.ts";

type BatchCall = ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>;

/** An append of which parts have come. */
type Pending = {
  readonly stream: string;
  readonly expected: Expected;
  readonly events: Proposed[];
  bytes: number;
};

/** The server's write timeout. After a bad request nobody removes the append, so that it is answered twice. */
const WRITE_TIMEOUT_MS = 2_000;

const success = (revision: number | null, position: number | null): streams.BatchAppendResp.Success => {
  const message = new streams.BatchAppendResp.Success();
  if (revision === null) message.setNoStream(new empty.Empty());
  else message.setCurrentRevision(String(revision));
  if (position === null) message.setNoPosition(new empty.Empty());
  else message.setPosition(allPosition(position));
  return message;
};

const write = (call: BatchCall, id: string, stream: string, fill: (answer: streams.BatchAppendResp) => void): void => {
  if (!call.writable || call.cancelled) return;
  const answer = new streams.BatchAppendResp();
  answer.setCorrelationId(new shared.UUID().setString(id));
  answer.setStreamIdentifier(identifierOf(stream));
  fill(answer);
  call.write(answer);
};

const refuse = (call: BatchCall, id: string, stream: string, error: rpc.Status): void =>
  write(call, id, stream, (answer) => answer.setError(error));

const answerOf = (context: Context, call: BatchCall, id: string, { stream, expected }: Pending): Answer<Decision> => ({
  reply(decision) {
    if (decision.outcome === "deleted") return refuse(call, id, stream, streamDeletedStatus(stream));
    if (decision.outcome === "conflict") {
      return refuse(call, id, stream, wrongExpectedVersionStatus(expected, decision.current));
    }
    write(call, id, stream, (answer) => answer.setSuccess(success(decision.revision, decision.position)));
  },
  fail: (error) => call.emit("error", error),
  timeout: () => refuse(call, id, stream, timeoutStatus()),
  cut: context.cut,
});

/** One call for all appends of a client; each is told by its correlation id. */
export const batchAppend = (context: Context) => (call: BatchCall) => {
  const pendings = new Map<string, Pending>();
  /** The server takes the appends of a call one by one, so none that came after a cut is written. */
  let isCut = false;

  const finish = (id: string, pending: Pending): void => {
    pendings.delete(id);
    const { stream, events } = pending;
    const odd = context.misbehaviours.next({
      method: "append",
      stream,
      events: events.length,
      batch: true,
      requiresLeader: requiresLeader(call.metadata),
    });
    isCut ||= odd?.how === "cut";
    answerWrite(context, odd, appending(context, odd, pending), answerOf(context, call, id, pending));
  };

  const badRequest = (id: string, stream: string, error: unknown): void => {
    refuse(call, id, stream, badRequestStatus(String(error)));
    context.later(WRITE_TIMEOUT_MS, () => {
      if (pendings.delete(id)) refuse(call, id, stream, timeoutStatus());
    });
  };

  call.on("data", (request: streams.BatchAppendReq) => {
    if (isCut) return;
    const id = request.getCorrelationId()?.getString() ?? "";
    const options = request.getOptions();
    if (options !== undefined) {
      const stream = nameOf(options.getStreamIdentifier());
      const until = options.getDeadline()?.toDate().getTime() ?? Number.POSITIVE_INFINITY;
      if (until <= Date.now() + context.state.aheadMs) return refuse(call, id, stream, timeoutStatus());
      pendings.set(id, { stream, expected: expectedOf(options), events: [], bytes: 0 });
    }
    const pending = pendings.get(id);
    if (pending === undefined) return;
    try {
      for (const event of request.getProposedMessagesList().map(proposed)) {
        pending.events.push(event);
        pending.bytes += context.sizeOf(event);
      }
    } catch (error) {
      return badRequest(id, pending.stream, error);
    }
    if (pending.bytes > context.appendBytesMax) {
      pendings.delete(id);
      return refuse(call, id, pending.stream, appendTooLargeStatus(context.appendBytesMax));
    }
    if (request.getIsFinal()) finish(id, pending);
  });
  call.on("end", () => call.end());
};
