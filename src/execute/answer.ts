import { defined } from "../../domain/defined.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import { countedOf } from "../../domain/delivery/replay.ts";
import { type Delivery, finalCostOf, isClaimed, requestOf } from "../../domain/delivery/state.ts";
import { type DeliveryStatus, statusOf } from "../../domain/delivery/status.ts";
import { eurOrNull } from "../../domain/gate/cost.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Reason } from "../../domain/personal/words.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import { outcomeOf, resultOf } from "../bodies/result.ts";
import { shownIn } from "../erasure/personal-data.ts";
import type { Answer } from "../http/route.ts";
import { foldStream } from "../streams/run-command.ts";

/** A target's failure is a bad gateway; an end by people or by the service is a conflict. */
const STATUS: Readonly<Record<DeliveryStatus, number>> = {
  delivered: 200,
  recorded: 200,
  held: 202,
  queued: 202,
  delivering: 202,
  retrying: 202,
  failed: 502,
  blocked: 409,
  rejected: 409,
  expired: 409,
  cancelled: 409,
};

/** The API shows a first attempt under way as `queued`, and later attempts under way as `retrying`. */
const shownStatus = (state: Delivery): DeliveryStatus => {
  const status = statusOf(state);
  if (status !== "delivering") return status;
  return state.phase === "attempting" && state.attempts > 1 ? "retrying" : "queued";
};

export const hasEnded = (state: Delivery): boolean => STATUS[statusOf(state)] !== 202;

/** The request's cost in micro-euros, an estimate until the request has ended; null if there is no estimate either. */
const costOf = (state: Delivery, estimate: number | null): number | null => {
  const spent = finalCostOf(state);
  // A cost of null means that the reservation was given back, so the request cost nothing.
  const own = spent === undefined ? estimate : (spent ?? 0);
  return own === null ? null : own + (countedOf(state) ?? 0);
};

const approvalField = (state: Delivery): { readonly approval_id?: string } => {
  if (state.phase === "held") return { approval_id: state.approval.approval_id };
  if (!isClaimed(state)) return {};
  const id = (state.phase === "stopped" ? state.heldFor : null) ?? state.releases.at(-1);
  return defined({ approval_id: id });
};

/** Types of the records that say why a request is not sent. */
const ENDS: ReadonlySet<string> = new Set(["HoldEnded", "EventCancelled"]);

/** What a person or the service wrote when the request ended without being sent; nothing if it ended otherwise. */
const reasonOf = async ({ log, account }: AnswerDeps, eventId: string, { phase }: Delivery): Promise<JsonObject> => {
  if (phase !== "stopped") return {};
  const ends: Reason[] = [];
  const seen = ({ type, data }: RecordedEvent): void => {
    // The types in `ENDS` have a reason.
    if (ENDS.has(type)) ends.push((data as { readonly reason: Reason }).reason);
  };
  await foldStream(log, delivery, `delivery-${eventId}`, { onEvent: seen });
  const reason = ends.at(-1);
  return reason === undefined ? {} : { reason: await shownIn({ log, account }, reason) };
};

type AnswerDeps = { readonly log: EventLog; readonly account: string };

export const executionAnswer = async (
  deps: AnswerDeps,
  eventId: string,
  state: Delivery,
): Promise<Answer & { readonly body: JsonObject }> => {
  const { log } = deps;
  const status = shownStatus(state);
  const request = requestOf(state);
  const verdict = request?.verdict ?? null;
  const cost = costOf(state, request?.cost ?? null);
  const about: JsonObject = {
    event_id: eventId,
    status,
    ...approvalField(state),
    verdict,
    cost_eur: eurOrNull(cost),
  };
  const location = { location: `/v1/executions/${eventId}` };
  if (request === null || (status !== "delivered" && status !== "failed")) {
    return { status: STATUS[status], headers: location, body: { ...about, ...(await reasonOf(deps, eventId, state)) } };
  }
  const came = await outcomeOf(log, eventId);
  const result = await resultOf(log, eventId, request.payload.revision, came);
  const failure: JsonObject | null = came.failure;
  return {
    status: STATUS[status],
    headers: location,
    body: { ...about, result, ...defined({ failure: status === "failed" ? failure : undefined }) },
  };
};
