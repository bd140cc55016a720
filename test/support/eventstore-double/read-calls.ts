import type streams from "@eventstore/db-client/generated/streams_pb.js";
import { type ServiceError, status } from "@grpc/grpc-js";
import type { Context } from "./context.ts";
import { filterOf } from "./filter.ts";
import type { Misbehaviour } from "./misbehaviour.ts";
import { directionOf, fromPosition, fromRevision, readAll, readStream } from "./read.ts";
import { isRecordStart, isTombstoned, lastRevision, type StoredRecord } from "./state.ts";
import { allSource, type Source, streamSource, subscribe } from "./subscriptions.ts";
import {
  callError,
  eventMessage,
  nameOf,
  noRecordStartError,
  notFoundMessage,
  notLeaderError,
  requiresLeader,
  streamDeletedError,
} from "./wire.ts";
import { type ReadCall, writeMessage } from "./write-message.ts";

type Options = streams.ReadReq.Options;

const fail = (call: ReadCall, error: ServiceError): void => {
  call.emit("error", error);
};

/** The page as a misbehaviour bends it. */
const bent = (
  context: Context,
  method: "read" | "readAll",
  odd: Misbehaviour | null,
  page: readonly StoredRecord[],
): readonly StoredRecord[] => {
  const before = context.lastPage.get(method);
  context.lastPage.set(method, page);
  switch (odd?.how) {
    case "repeat-page":
      return before ?? page;
    case "repeat-event":
      return page.length < 2 ? page : [...page.slice(0, 1), ...page.slice(0, -1)];
    case "cut":
    case "end":
      return page.slice(0, odd.afterEvents ?? 0);
    default:
      return page;
  }
};

const givePage = async (
  context: Context,
  call: ReadCall,
  method: "read" | "readAll",
  odd: Misbehaviour | null,
  page: readonly StoredRecord[],
): Promise<void> => {
  for (const record of bent(context, method, odd, page)) {
    context.given.set(method, (context.given.get(method) ?? 0) + 1);
    if (!(await writeMessage(call, eventMessage(record)))) return;
  }
  if (odd?.how === "cut") return context.cut();
  call.end();
};

const readOneStream = (context: Context, call: ReadCall, options: Options, odd: Misbehaviour | null) => {
  const name = nameOf(options.getStream()?.getStreamIdentifier());
  const stream = options.getStream();
  if (stream === undefined) return;
  if (isTombstoned(context.state, name)) return fail(call, streamDeletedError(name));
  const count = Number(options.getCount());
  const page = readStream(context.state, name, fromRevision(stream), directionOf(options), count);
  if (page !== null) return void givePage(context, call, "read", odd, page);
  call.write(notFoundMessage(name));
  call.end();
};

const readLog = (context: Context, call: ReadCall, options: Options, odd: Misbehaviour | null) => {
  const all = options.getAll();
  if (all === undefined) return;
  const asked = { from: fromPosition(all), direction: directionOf(options), count: Number(options.getCount()) };
  const page = readAll(context.state, asked, filterOf(options));
  if (page === null) return fail(call, noRecordStartError());
  void givePage(context, call, "readAll", odd, page);
};

type Start = { readonly source: Source; readonly after: number } | { readonly error: ServiceError };

/** Unlike a read a subscription begins behind the revision or position it is given. */
const startOf = ({ state }: Context, options: Options): Start => {
  const stream = options.getStream();
  const all = options.getAll();
  if (stream !== undefined) {
    const name = nameOf(stream.getStreamIdentifier());
    if (isTombstoned(state, name)) return { error: streamDeletedError(name) };
    const from = fromRevision(stream);
    const after = from === "start" ? -1 : from === "end" ? lastRevision(state.streams.get(name)) : from;
    return { source: streamSource(state, name), after };
  }
  const from = all === undefined ? "start" : fromPosition(all);
  if (typeof from === "number" && from < state.end && !isRecordStart(state, from))
    return { error: noRecordStartError() };
  return { source: allSource(state), after: from === "start" ? -1 : from === "end" ? state.end - 1 : from };
};

const openSubscription = (context: Context, call: ReadCall, options: Options, odd: Misbehaviour | null) => {
  const start = startOf(context, options);
  if ("error" in start) return fail(call, start.error);
  const { state, liveBuffer, subscriptions } = context;
  const filter = filterOf(options);
  const onGiven = (): void => void context.given.set("subscribe", (context.given.get("subscribe") ?? 0) + 1);
  const subscription = subscribe(state, call, { ...start, filter, liveBuffer, onGiven }, subscriptions);
  if (odd?.how === "end") subscription.end();
  if (odd?.how === "cut") context.cut();
};

/** Reads of a stream and of `$all`, and subscriptions to them, are one call of the protocol. */
export const readCall = (context: Context) => (call: ReadCall) => {
  const options = call.request.getOptions();
  if (options === undefined) return fail(call, callError(status.INVALID_ARGUMENT, "no options"));
  const stream = options.hasStream() ? nameOf(options.getStream()?.getStreamIdentifier()) : null;
  const method = options.hasSubscription() ? "subscribe" : stream === null ? "readAll" : "read";
  const answer = { subscribe: openSubscription, readAll: readLog, read: readOneStream }[method];
  const odd = context.misbehaviours.next({
    method,
    stream,
    events: 0,
    batch: false,
    requiresLeader: requiresLeader(call.metadata),
  });
  switch (odd?.how) {
    case "silent":
      return;
    case "slow":
      return context.later(odd.ms, () => answer(context, call, options, null));
    case "error":
      return fail(call, callError(odd.code, odd.details));
    case "timeout":
      return fail(call, callError(status.DEADLINE_EXCEEDED, "Deadline exceeded"));
    case "not-leader":
      return fail(call, notLeaderError(odd.leader));
    default:
      return answer(context, call, options, odd);
  }
};
