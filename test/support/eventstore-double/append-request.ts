import type streams from "@eventstore/db-client/generated/streams_pb.js";
import { type AppendRequest, append, type Decision, type Expected } from "./append.ts";
import type { Context } from "./context.ts";
import type { Misbehaviour } from "./misbehaviour.ts";

type BatchOptions = streams.BatchAppendReq.Options;
type CallOptions = streams.AppendReq.Options | streams.DeleteReq.Options | streams.TombstoneReq.Options;

/** The two kinds of message name the exact revision differently, and nothing else. */
export const expectedOf = (options: BatchOptions | CallOptions): Expected => {
  if (options.hasNoStream()) return "no-stream";
  if (options.hasStreamExists()) return "stream-exists";
  if (options.hasAny()) return "any";
  return Number("getStreamPosition" in options ? options.getStreamPosition() : options.getRevision());
};

/** Appends when it is called, and answers the position that a misbehaviour asks for. */
export const appending =
  ({ state, positions }: Context, odd: Misbehaviour | null, request: AppendRequest) =>
  (): Decision => {
    if (odd?.how !== "position") return append(state, request, positions);
    if (odd.position === "first") return append(state, request, { ...positions, ofSeveral: "first" });
    const decision = append(state, request, positions);
    if (decision.outcome !== "appended" || decision.position === null) return decision;
    return { ...decision, position: odd.position === "none" ? null : decision.position + 1 };
  };
