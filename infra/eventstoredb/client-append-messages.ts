import shared from "@eventstore/db-client/generated/shared_pb.js";
import type rpc from "@eventstore/db-client/generated/status_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import timestamp from "google-protobuf/google/protobuf/timestamp_pb.js";
import type { Revision } from "../../domain/ports/event-log.ts";
import { type AppendAnswer, ConnectionFailure, type Cursor, type ProposedEvent } from "./connection.ts";

/** A deadline for the server, so late that the two clocks need not agree; the server gives up after 2 s anyway. */
const SERVER_DEADLINE = new Date("9999-12-31T23:59:59Z");
/** Of gRPC's status codes (grpc.io/docs/guides/status-codes), only this one says that nothing was written. */
const INVALID_ARGUMENT = 3;
/** A position of this size or more is none: some servers report the largest unsigned number instead. */
const POSITION_MAX = 2n ** 63n;

const proposed = ({ id, type, data, meta }: ProposedEvent): streams.BatchAppendReq.ProposedMessage => {
  const message = new streams.BatchAppendReq.ProposedMessage().setId(new shared.UUID().setString(id)).setData(data);
  message.getMetadataMap().set("type", type).set("content-type", "application/json");
  return meta === null ? message : message.setCustomMetadata(meta);
};

export const appendRequest = (
  correlationId: string,
  stream: string,
  expected: "absent" | Revision,
  events: readonly ProposedEvent[],
): streams.BatchAppendReq => {
  const options = new streams.BatchAppendReq.Options()
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(new TextEncoder().encode(stream)))
    .setDeadline(timestamp.Timestamp.fromDate(SERVER_DEADLINE));
  if (expected === "absent") options.setNoStream(new shared.Empty());
  else options.setStreamPosition(String(expected));
  return new streams.BatchAppendReq()
    .setCorrelationId(new shared.UUID().setString(correlationId))
    .setOptions(options)
    .setProposedMessagesList(events.map(proposed))
    .setIsFinal(true);
};

export const cursorFrom = (commit: string | bigint, prepare: string | bigint): Cursor | null => {
  const at = { commit: BigInt(commit), prepare: BigInt(prepare) };
  return at.commit < POSITION_MAX && at.prepare < POSITION_MAX ? at : null;
};

const refusal = (error: rpc.Status): AppendAnswer => {
  const details = error.getDetails();
  const name = details?.getTypeName().replace("event_store.client.", "") ?? "";
  const message = `the server answered ${error.getMessage() || name || `status ${error.getCode()}`}`;
  switch (name) {
    case "WrongExpectedVersion": {
      const conflict = details?.unpack(shared.WrongExpectedVersion.deserializeBinary, details.getTypeName());
      const actual = conflict?.hasCurrentStreamRevision() ? Number(conflict.getCurrentStreamRevision()) : "absent";
      return { outcome: "conflict", actual };
    }
    case "MaximumAppendSizeExceeded": {
      const limit = details?.unpack(shared.MaximumAppendSizeExceeded.deserializeBinary, details.getTypeName());
      return { outcome: "too-large", bytesMax: limit?.getMaxappendsize() ?? 0 };
    }
    case "StreamDeleted":
      throw new ConnectionFailure("refused", "deleted", message);
    case "AccessDenied":
      throw new ConnectionFailure("refused", "access", message);
    default:
      throw new ConnectionFailure(error.getCode() === INVALID_ARGUMENT ? "refused" : "unknown", "other", message);
  }
};

export const readAnswer = (answer: streams.BatchAppendResp): AppendAnswer => {
  const error = answer.getError();
  if (error !== undefined) return refusal(error);
  const position = answer.getSuccess()?.getPosition();
  const at = position === undefined ? null : cursorFrom(position.getCommitPosition(), position.getPreparePosition());
  return { outcome: "appended", at };
};

/** The server may give an id as two numbers instead of a text (RFC 9562, section 4). */
export const uuidOf = (id: shared.UUID | undefined): string => {
  const structured = id?.getStructured();
  if (structured === undefined) return id?.getString() ?? "";
  const hex = [structured.getMostSignificantBits(), structured.getLeastSignificantBits()]
    .map((bits) => BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, "0"))
    .join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
};

/** The answered request's id. */
export const correlationIdOf = (answer: streams.BatchAppendResp): string => uuidOf(answer.getCorrelationId());
