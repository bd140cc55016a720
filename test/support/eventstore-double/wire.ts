/** Records and refusals as the messages of `@eventstore/db-client/generated`, shaped as a 23.10 server sends them. */

import codes from "@eventstore/db-client/generated/code_pb.js";
import shared from "@eventstore/db-client/generated/shared_pb.js";
import rpc from "@eventstore/db-client/generated/status_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import any from "google-protobuf/google/protobuf/any_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import type { Expected } from "./append.ts";
import { LARGEST_INT64, type Proposed, type StoredRecord, TOMBSTONE_REVISION } from "./state.ts";

/** `created` counts units of 100 nanoseconds since 1970. */
const TICKS_PER_MS = "0000";

export type Endpoint = { readonly address: string; readonly port: number };

export const nameOf = (identifier: shared.StreamIdentifier | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString();

export const identifierOf = (name: string): shared.StreamIdentifier =>
  new shared.StreamIdentifier().setStreamName(new Uint8Array(Buffer.from(name)));

const recordedEvent = (record: StoredRecord): streams.ReadResp.ReadEvent.RecordedEvent => {
  const event = new streams.ReadResp.ReadEvent.RecordedEvent();
  const position = String(record.position);
  event.setId(new shared.UUID().setString(record.id));
  event.setStreamIdentifier(identifierOf(record.stream));
  event.setStreamRevision(record.revision === TOMBSTONE_REVISION ? LARGEST_INT64 : String(record.revision));
  event.setCommitPosition(position);
  event.setPreparePosition(position);
  event.getMetadataMap().set("type", record.type);
  event.getMetadataMap().set("created", record.createdMs + TICKS_PER_MS);
  event.getMetadataMap().set("content-type", record.contentType);
  event.setData(record.data);
  event.setCustomMetadata(record.metadata);
  return event;
};

export const eventMessage = (record: StoredRecord): streams.ReadResp =>
  new streams.ReadResp().setEvent(
    new streams.ReadResp.ReadEvent().setEvent(recordedEvent(record)).setCommitPosition(String(record.position)),
  );

export const notFoundMessage = (stream: string): streams.ReadResp =>
  new streams.ReadResp().setStreamNotFound(
    new streams.ReadResp.StreamNotFound().setStreamIdentifier(identifierOf(stream)),
  );

export const checkpointMessage = (position: number): streams.ReadResp =>
  new streams.ReadResp().setCheckpoint(
    new streams.ReadResp.Checkpoint().setCommitPosition(String(position)).setPreparePosition(String(position)),
  );

export const allPosition = (position: number): shared.AllStreamPosition =>
  new shared.AllStreamPosition().setCommitPosition(String(position)).setPreparePosition(String(position));

/** What .NET's `Guid.Parse` takes, as far as anybody sends it. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

type ProposedMessage = streams.BatchAppendReq.ProposedMessage | streams.AppendReq.ProposedMessage;

/** Throws, as the server does, on an id that is no UUID and on a message without type or content type. */
export const proposed = (message: ProposedMessage): Proposed => {
  const id = message.getId()?.getString().toLowerCase() ?? "";
  if (!UUID.test(id)) throw new Error(`Unrecognized Guid format: ${id}`);
  const type = message.getMetadataMap().get("type");
  const contentType = message.getMetadataMap().get("content-type");
  if (type === undefined || type === "" || contentType === undefined) throw new Error("Empty eventType provided.");
  const json = contentType === "application/json";
  return {
    id,
    type,
    contentType: json ? contentType : "application/octet-stream",
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
};

type Packable = { serializeBinary(): Uint8Array };

const { Code } = codes;

const statusOf = (code: codes.Code, name: string, details: Packable): rpc.Status => {
  const packed = new any.Any();
  packed.pack(details.serializeBinary(), `event_store.client.${name}`);
  return new rpc.Status().setCode(code).setMessage(name).setDetails(packed);
};

export const wrongExpectedVersionStatus = (expected: Expected, current: number): rpc.Status => {
  const details = new shared.WrongExpectedVersion();
  if (current < 0) details.setCurrentNoStream(new empty.Empty());
  else details.setCurrentStreamRevision(String(current));
  if (expected === "any") details.setExpectedAny(new empty.Empty());
  else if (expected === "no-stream") details.setExpectedNoStream(new empty.Empty());
  else if (expected === "stream-exists") details.setExpectedStreamExists(new empty.Empty());
  else details.setExpectedStreamPosition(String(expected));
  return statusOf(Code.ALREADY_EXISTS, "WrongExpectedVersion", details);
};

export const streamDeletedStatus = (stream: string): rpc.Status =>
  statusOf(Code.NOT_FOUND, "StreamDeleted", new shared.StreamDeleted().setStreamIdentifier(identifierOf(stream)));

export const timeoutStatus = (): rpc.Status => statusOf(Code.DEADLINE_EXCEEDED, "Timeout", new shared.Timeout());

export const badRequestStatus = (message: string): rpc.Status =>
  statusOf(Code.INVALID_ARGUMENT, "BadRequest", new shared.BadRequest().setMessage(message));

export const appendTooLargeStatus = (bytesMax: number): rpc.Status =>
  statusOf(
    Code.INVALID_ARGUMENT,
    "MaximumAppendSizeExceeded",
    new shared.MaximumAppendSizeExceeded().setMaxappendsize(bytesMax),
  );

/** Ends a call with a status; the client reads what kind of error it is from the trailer `exception`. */
export const callError = (
  code: status,
  details = "as the double was told",
  trailers: Record<string, string> = {},
): ServiceError => {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value);
  return Object.assign(new Error(details), { code, details, metadata });
};

export const requiresLeader = (metadata: Metadata): boolean => metadata.get("requires-leader")[0] === "true";

export const notLeaderError = (leader: Endpoint): ServiceError =>
  callError(status.NOT_FOUND, "Leader info available", {
    exception: "not-leader",
    "leader-endpoint-host": leader.address,
    "leader-endpoint-port": String(leader.port),
  });

export const streamDeletedError = (stream: string): ServiceError =>
  callError(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: "stream-deleted",
    "stream-name": stream,
  });

export const appendTooLargeError = (bytesMax: number): ServiceError =>
  callError(status.INVALID_ARGUMENT, `Maximum Append Size of ${bytesMax} Exceeded.`, {
    exception: "maximum-append-size-exceeded",
    "maximum-append-size": String(bytesMax),
  });

/** ExpectedVersion of the server. */
const versionNumber = (expected: Expected): number =>
  typeof expected === "number" ? expected : { "no-stream": -1, any: -2, "stream-exists": -4 }[expected];

export const wrongExpectedVersionError = (
  operation: string,
  stream: string,
  expected: Expected,
  current: number,
): ServiceError => {
  const version = String(versionNumber(expected));
  const text = `Stream: ${stream}, Expected version: ${version}, Actual version: ${current}`;
  return callError(status.FAILED_PRECONDITION, `${operation} failed due to WrongExpectedVersion. ${text}`, {
    exception: "wrong-expected-version",
    "stream-name": stream,
    "expected-version": version,
    "actual-version": String(current),
  });
};

/** RpcExceptions.UnknownError(ReadAllResult.Error) of the server: a position at which no record begins. */
export const noRecordStartError = (): ServiceError => callError(status.UNKNOWN, "Unexpected ReadAllResult: Error");
