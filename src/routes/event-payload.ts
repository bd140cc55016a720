import { erasure } from "../../domain/delivery/erasure.ts";
import { redactJson } from "../../domain/gate/redact.ts";
import type { PolicyEvent } from "../../domain/policy/events.ts";
import type { EventLog, Json } from "../../domain/ports.ts";
import type { EventDocument } from "../../projections/events.ts";
import { erase } from "../erasures.ts";
import { isEventId } from "../event-id.ts";
import type { Payloads } from "../payloads.ts";
import { notFound, type Problem, problem } from "../problems.ts";
import { readOn } from "../run-command.ts";
import { type Answer, type Call, hasRole, type Principal, positionOf } from "./route.ts";

/** The paths that the policy version of the verdict keeps from this reader: none from an admin. */
export const hiddenPaths = async (
  log: EventLog,
  { verdict: { policy } }: Pick<EventDocument, "verdict">,
  principal: Principal,
): Promise<readonly string[]> => {
  if (policy === null || hasRole(principal, "admin")) return [];
  // Version n is the n-th record of the policy's stream.
  const [record] = await log.read(`policy-${policy.id}`, policy.version === 1 ? null : policy.version - 2, 1);
  const published = record as unknown as PolicyEvent | undefined;
  if (published?.data.version !== policy.version)
    throw new Error(`policy ${policy.id} has no version ${policy.version}`);
  return published.data.definition.redact ?? [];
};

/** Null for what is not JSON: its fields cannot be told apart. */
export const redactText = (text: string, paths: readonly string[]): string | null => {
  try {
    return JSON.stringify(redactJson(JSON.parse(text) as Json, paths));
  } catch {
    return null;
  }
};

/** Whatever a sender put there must not run in the console's origin. */
const safeHeaders = (id: string, contentType: string, contentEncoding: string | undefined): Record<string, string> => ({
  // A content type comes from outside: what cannot stand in a header is not repeated.
  "content-type": /^[\x21-\x7e][\x20-\x7e]*$/.test(contentType) ? contentType : "application/octet-stream",
  "content-disposition": `attachment; filename="${id}"`,
  "x-content-type-options": "nosniff",
  "content-security-policy": "sandbox; default-src 'none'",
  // Under its own name the client would decode: other bytes than were received and signed, or none if the sender was wrong.
  ...(contentEncoding === undefined ? {} : { "countersign-content-encoding": contentEncoding }),
});

export type PayloadDeps = { readonly log: EventLog; readonly payloads: Pick<Payloads, "read"> };

/** The bytes as this reader sees them. */
export type VisiblePayload = {
  readonly body: Buffer;
  readonly contentType: string;
  readonly contentEncoding: string | undefined;
  /** Fields are hidden, so that it is not what was received. */
  readonly isRedacted: boolean;
};

/** The bytes as received; for a role below admin the fields that the policy redacts are hidden. */
export const visiblePayload = async (
  { log, payloads }: PayloadDeps,
  id: string,
  event: EventDocument,
  principal: Principal,
): Promise<VisiblePayload | Problem> => {
  const kept = event.payload.erased_at === null ? await payloads.read(id, event.payload.revision) : null;
  if (kept === null) return problem("not-found", "The payload was erased; the event's record stays.");
  const { body, content_type: contentType, content_encoding: contentEncoding } = kept;
  const paths = await hiddenPaths(log, event, principal);
  if (paths.length === 0) return { body, contentType, contentEncoding, isRedacted: false };
  const shown = redactText(body.toString("utf8"), paths);
  // Nothing is shown rather than too much.
  if (shown === null)
    return problem("forbidden", "The policy hides fields of this payload, and it is not JSON: an admin can read it.");
  return { body: Buffer.from(shown), contentType, contentEncoding, isRedacted: true };
};

export const readPayload = async (
  deps: PayloadDeps,
  id: string,
  event: EventDocument,
  principal: Principal,
): Promise<Answer | Problem> => {
  const it = await visiblePayload(deps, id, event, principal);
  if ("problem" in it) return it;
  const headers = safeHeaders(id, it.contentType, it.contentEncoding);
  return {
    status: 200,
    body: it.body,
    headers: it.isRedacted ? { ...headers, "countersign-redacted": "true" } : headers,
  };
};

/** How long one attempt may last at most is the endpoint's affair; a caller may as well look again soon. */
const RETRY_AFTER_S = 5;

export const erasePayload = async (log: EventLog, id: string, call: Call): Promise<Answer | Problem> => {
  if (!isEventId(id)) return notFound();
  const stream = `delivery-${id}`;
  let owner: string | null = null;
  const known = await readOn(log, erasure, stream, { state: erasure.initial, revision: null }, ({ meta }) => {
    owner ??= meta.account;
  });
  if (owner !== call.principal.account) return notFound();
  // The route's schema has checked the shape.
  const { reason } = call.body as { readonly reason: string };
  const command = { type: "ErasePayload", eventId: id, reason, at: call.envelope.at } as const;
  const ran = await erase(log, erasure, stream, known, command, call.envelope);
  if (ran.outcome === "rejected") {
    if (ran.rejection === "absent") return notFound();
    const detail = "An attempt to deliver this event is under way: its payload can be erased once that has ended.";
    return problem("conflict", detail, { retryAfterS: RETRY_AFTER_S });
  }
  const body = { event_id: id, erased_at: ran.known.state.erasedAt };
  return { status: 200, body, ...positionOf(ran) };
};
