import { policiesOf } from "../../../domain/gate/verdict.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { hasRole, type Principal } from "../../http/route.ts";
import { publishedVersion } from "../events/hidden-fields.ts";
import type { ApprovalSubject } from "./approval-target.ts";

/** True if every policy that hides fields of the request lets the caller's role reveal them. */
export const mayReveal = async (log: EventLog, { state }: ApprovalSubject, principal: Principal): Promise<boolean> => {
  // The approval names one policy only; the verdict of its request names all that were asked.
  const policies = state !== null && "request" in state ? policiesOf(state.request.verdict) : [];
  const definitions = await Promise.all(policies.map((policy) => publishedVersion(log, policy)));
  const hiding = definitions.filter(({ redact = [] }) => redact.length > 0);
  return (
    hiding.length > 0 &&
    hiding.every(({ approval: rule }) => (rule?.reveal ?? []).some((role) => hasRole(principal, role)))
  );
};
