import { isOverdue, type RequestedApproval } from "../../domain/approval/decider.ts";
import { type Delivery, delivery } from "../../domain/delivery/decider.ts";
import { endpoint } from "../../domain/endpoint/decider.ts";
import type { EventLog } from "../../domain/ports.ts";
import type { Aggregates } from "../aggregates.ts";
import { type Problem, problem } from "../problems.ts";
import { readOn } from "../run-command.ts";
import type { JsonSchema } from "./route.ts";

/** Where it goes, as the endpoint is at this moment. */
export type ApprovalTarget = { readonly id: string; readonly name: string; readonly url: string };

export const APPROVAL_TARGET: JsonSchema = {
  type: ["object", "null"],
  required: ["id", "name", "url"],
  properties: { id: { type: "string" }, name: { type: "string" }, url: { type: "string" } },
  description: "Where it goes, as the endpoint is now; null when it was deleted, or there is none",
};

/** What an approval is for, as it is; a bundle has no delivery of its own. */
export const subjectOf = async (log: EventLog, { request }: RequestedApproval): Promise<Delivery> => {
  const { kind, id } = request.subject;
  if (kind !== "event") return delivery.initial;
  return (await readOn(log, delivery, `delivery-${id}`, { state: delivery.initial, revision: null })).state;
};

const endpointIdOf = (subject: Delivery): string | null => ("request" in subject ? subject.request.endpoint_id : null);

export const targetOf = async (aggregates: Aggregates, subject: Delivery): Promise<ApprovalTarget | null> => {
  const id = endpointIdOf(subject);
  if (id === null) return null;
  // Not a moment old: it may have been sent elsewhere just now.
  const { state } = await aggregates.load(endpoint, `endpoint-${id}`, 0);
  return state.phase === "present" ? { id, name: state.settings.name, url: state.settings.url } : null;
};

/** Why nobody can approve it though it is still to be decided; null for nothing. What is decided, the decider says. */
export const approvalHindrance = async (
  { aggregates, log }: { readonly aggregates: Aggregates; readonly log: EventLog },
  it: RequestedApproval,
  at: string,
): Promise<Problem | null> => {
  if (it.end !== null || isOverdue(it.request, at)) return null;
  const subject = await subjectOf(log, it);
  if (subject.phase !== "held") return null;
  if (subject.erased) return problem("conflict", "Its payload was erased: nothing is left to execute. Reject it.");
  if (endpointIdOf(subject) === null || (await targetOf(aggregates, subject)) !== null) return null;
  return problem("conflict", "The endpoint that it was to go to was deleted: it can go nowhere. Reject it.");
};
