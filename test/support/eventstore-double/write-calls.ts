import messages from "@eventstore/db-client/generated/shared_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import { type ServerReadableStream, type ServerUnaryCall, type sendUnaryData, status } from "@grpc/grpc-js";
import { answerWrite } from "./answer-write.ts";
import { type Decision, deleteStream, type Expected, tombstoneStream } from "./append.ts";
import { appending, expectedOf } from "./append-request.ts";
import type { Context } from "./context.ts";
import type { Proposed } from "./state.ts";
import {
  appendTooLargeError,
  callError,
  nameOf,
  proposed,
  requiresLeader,
  streamDeletedError,
  wrongExpectedVersionError,
} from "./wire.ts";

const { AppendResp } = streams;

const positionMessage = (position: number): streams.AppendResp.Position =>
  new AppendResp.Position().setCommitPosition(String(position)).setPreparePosition(String(position));

const success = (revision: number | null, position: number | null): streams.AppendResp => {
  const message = new AppendResp.Success();
  if (revision === null) message.setNoStream(new messages.Empty());
  else message.setCurrentRevision(String(revision));
  if (position === null) message.setNoPosition(new messages.Empty());
  else message.setPosition(positionMessage(position));
  return new AppendResp().setSuccess(message);
};

/** The members whose names end in 2060 are of clients before 20.10; the server fills them all the same, nobody reads them. */
const wrongExpectedVersion = (expected: Expected, current: number): streams.AppendResp => {
  const message = new AppendResp.WrongExpectedVersion();
  if (current < 0) message.setCurrentNoStream(new messages.Empty());
  else message.setCurrentRevision(String(current));
  if (expected === "any") message.setExpectedAny(new messages.Empty());
  else if (expected === "no-stream") message.setExpectedNoStream(new messages.Empty());
  else if (expected === "stream-exists") message.setExpectedStreamExists(new messages.Empty());
  else message.setExpectedRevision(String(expected));
  return new AppendResp().setWrongExpectedVersion(message);
};

const timeoutError = () => callError(status.DEADLINE_EXCEEDED, "Deadline exceeded");

type AppendCall = ServerReadableStream<streams.AppendReq, streams.AppendResp>;

/** The append that has a call, and so a deadline, of its own. */
export const appendCall = (context: Context) => (call: AppendCall, callback: sendUnaryData<streams.AppendResp>) => {
  const events: Proposed[] = [];
  let bytes = 0;
  let stream = "";
  let expected: Expected = "any";
  let refused = false;

  const refuse = (error: ReturnType<typeof callError>): void => {
    refused = true;
    callback(error);
  };

  call.on("data", (request: streams.AppendReq) => {
    const options = request.getOptions();
    if (options !== undefined) {
      stream = nameOf(options.getStreamIdentifier());
      expected = expectedOf(options);
    }
    const message = request.getProposedMessage();
    if (message === undefined || refused) return;
    try {
      const event = proposed(message);
      events.push(event);
      bytes += context.sizeOf(event);
    } catch (error) {
      return refuse(callError(status.UNKNOWN, `Exception was thrown by handler. ${error}`));
    }
    if (bytes > context.appendBytesMax) refuse(appendTooLargeError(context.appendBytesMax));
  });

  call.on("end", () => {
    if (refused || call.cancelled) return;
    const request = { stream, expected, events };
    const odd = context.misbehaviours.next({
      method: "append",
      stream,
      events: events.length,
      batch: false,
      requiresLeader: requiresLeader(call.metadata),
    });
    answerWrite(context, odd, appending(context, odd, request), {
      reply(decision) {
        if (decision.outcome === "deleted") return callback(streamDeletedError(stream));
        if (decision.outcome === "conflict") return callback(null, wrongExpectedVersion(expected, decision.current));
        callback(null, success(decision.revision, decision.position));
      },
      fail: (error) => callback(error),
      timeout: () => callback(timeoutError()),
      cut: context.cut,
    });
  });
};

type Removing = {
  readonly method: "delete" | "tombstone";
  readonly options: streams.DeleteReq.Options | streams.TombstoneReq.Options | undefined;
  readonly done: (error: ReturnType<typeof callError> | null, position: number | null) => void;
};

const removing = (context: Context, { method, options, done }: Removing) => {
  if (options === undefined) return done(callError(status.INVALID_ARGUMENT, "no options"), null);
  const stream = nameOf(options.getStreamIdentifier());
  const expected = expectedOf(options);
  const odd = context.misbehaviours.next({
    method,
    stream,
    events: 0,
    batch: false,
    requiresLeader: false,
  });
  const remove = method === "delete" ? deleteStream : tombstoneStream;
  answerWrite<Decision>(context, odd, () => remove(context.state, { stream, expected }), {
    reply(decision) {
      if (decision.outcome === "deleted") return done(streamDeletedError(stream), null);
      if (decision.outcome === "appended") return done(null, decision.position);
      done(wrongExpectedVersionError("Delete", stream, expected, decision.current), null);
    },
    fail: (error) => done(error, null),
    timeout: () => done(timeoutError(), null),
    cut: context.cut,
  });
};

export const deleteCall =
  (context: Context) =>
  (call: ServerUnaryCall<streams.DeleteReq, streams.DeleteResp>, callback: sendUnaryData<streams.DeleteResp>): void =>
    removing(context, {
      method: "delete",
      options: call.request.getOptions(),
      done(error, position) {
        if (error !== null) return callback(error);
        const at = new streams.DeleteResp.Position();
        at.setCommitPosition(String(position)).setPreparePosition(String(position));
        callback(null, new streams.DeleteResp().setPosition(at));
      },
    });

export const tombstoneCall =
  (context: Context) =>
  (
    call: ServerUnaryCall<streams.TombstoneReq, streams.TombstoneResp>,
    callback: sendUnaryData<streams.TombstoneResp>,
  ): void =>
    removing(context, {
      method: "tombstone",
      options: call.request.getOptions(),
      done(error, position) {
        if (error !== null) return callback(error);
        const at = new streams.TombstoneResp.Position();
        at.setCommitPosition(String(position)).setPreparePosition(String(position));
        callback(null, new streams.TombstoneResp().setPosition(at));
      },
    });
