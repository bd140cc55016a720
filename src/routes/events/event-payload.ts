import { defined } from "../../../domain/defined.ts";
import { erasure } from "../../../domain/delivery/erasure.ts";
import type { BundleStep, DeliveryEvent } from "../../../domain/delivery/events.ts";
import { eventOf } from "../../../domain/events.ts";
import type { EventDocument } from "../../../projections/event-document.ts";
import { directBodyReader } from "../../bodies/body-reader.ts";
import type { CallCounts } from "../../calls/call-counts.ts";
import { eraseEvent } from "../../erasure/erasures.ts";
import type { REASON_BODY } from "../../http/json-schema.ts";
import { type Answer, type Call, calledBy, positionOf } from "../../http/route.ts";
import { isEventId } from "../../streams/event-id.ts";
import { payloadDamaged } from "../../streams/payload-damage.ts";
import { shownPayload } from "../../streams/payload-ref.ts";
import { notFound, type Problem, problem } from "../../streams/problems.ts";
import { foldStream } from "../../streams/run-command.ts";
import { type BundlePayloadDeps, eraseOwnBundle } from "../bundles/bundle-payload.ts";
import { type HiddenDeps, hiddenOfEvent } from "./hidden-fields.ts";

/** Headers that keep a sender's payload from running as a page of the console's origin. */
const safeHeaders = (id: string, contentType: string, contentEncoding: string | undefined): Record<string, string> => ({
  // The sender's content type is repeated only if it is valid as a header's value.
  "content-type": /^[\x21-\x7e][\x20-\x7e]*$/.test(contentType) ? contentType : "application/octet-stream",
  "content-disposition": `attachment; filename="${id}"`,
  "content-security-policy": "sandbox; default-src 'none'",
  // A header `content-encoding` would make clients decode the bytes, but they want those that were signed.
  ...defined({ "countersign-content-encoding": contentEncoding }),
});

export type VisiblePayload = {
  readonly body: Buffer;
  readonly contentType: string;
  readonly contentEncoding: string | undefined;
  /** True if only the payload's first bytes are stored. */
  readonly isHead: boolean;
  /** True if fields are hidden, so that the bytes differ from those received. */
  readonly isRedacted: boolean;
};

export type PayloadDeps = HiddenDeps & { readonly calls: Pick<CallCounts, "payloadRead"> };

/** Reads the payload. Below admin, fields that the policies redact are hidden; a read of all bytes is recorded. */
export const visiblePayload = async (
  deps: PayloadDeps,
  id: string,
  event: EventDocument,
  call: Call,
): Promise<VisiblePayload | Problem> => {
  const kept = event.payload.erased_at === null ? await deps.payloads.read(id, shownPayload(event.payload)) : null;
  if (kept === "damaged") return payloadDamaged();
  if (kept === null) return problem("not-found", "The payload was erased; the event's record stays.");
  const { body, content_encoding: contentEncoding } = kept;
  const { content_type: contentType } = event.payload;
  const hidden = await hiddenOfEvent(deps, event, call.principal);
  const isHead = event.payload.head !== undefined;
  if (hidden.length === 0) {
    deps.calls.payloadRead(calledBy(call), id);
    return { body, contentType, contentEncoding, isHead, isRedacted: false };
  }
  const { bodyReader = directBodyReader } = deps;
  const { account } = call.principal;
  const order = { body, hidden };
  const busy = bodyReader.busy(account, "text", order);
  if (busy !== null) return busy;
  const shown = await bodyReader.run(account, "text", order);
  // Null means that the payload is not JSON, so that its fields cannot be hidden.
  if (shown === null)
    return problem("forbidden", "The policy hides fields of this payload, and it is not JSON: an admin can read it.");
  return { body: Buffer.from(shown), contentType, contentEncoding, isHead, isRedacted: true };
};

export const readPayload = async (
  deps: PayloadDeps,
  id: string,
  event: EventDocument,
  call: Call,
): Promise<Answer | Problem> => {
  const it = await visiblePayload(deps, id, event, call);
  if ("problem" in it) return it;
  // The beginning of a document is not valid as its content type, so it is sent as plain bytes.
  const contentType = it.isHead ? "application/octet-stream" : it.contentType;
  return {
    status: 200,
    body: it.body,
    headers: {
      ...safeHeaders(id, contentType, it.contentEncoding),
      ...defined({
        "countersign-payload-kept": it.isHead ? "head" : undefined,
        "countersign-redacted": it.isRedacted ? "true" : undefined,
      }),
    },
  };
};

type Erasing = { readonly body: typeof REASON_BODY };

const RETRY_AFTER_S = 5;

/** Erases the whole bundle, because its payload and those of the undos repeat what is in the step's. */
const eraseOfBundle = async (
  deps: BundlePayloadDeps,
  id: string,
  step: BundleStep,
  call: Call<Erasing>,
): Promise<Answer | Problem> => {
  const erased = await eraseOwnBundle(deps, step.id, call);
  if (!("problem" in erased)) {
    const body = { event_id: id, erased_at: erased.erasedAt, bytes_removed: deps.log.bytesRemoved };
    return { status: 200, body, ...erased.written };
  }
  if (erased.problem !== "conflict") return erased;
  const detail = `The event belongs to the bundle ${step.id}, which has not ended: end or cancel the bundle first.`;
  return problem("conflict", detail);
};

/** Erases an event's payload, and for a step or an undo those of its whole bundle. */
export const erasePayload = async (
  deps: BundlePayloadDeps,
  id: string,
  call: Call<Erasing>,
): Promise<Answer | Problem> => {
  const { log, personal } = deps;
  if (!isEventId(id)) return notFound();
  const stream = `delivery-${id}`;
  const about: { owner?: string; step?: BundleStep } = {};
  const known = await foldStream(log, erasure, stream, {
    onEvent: (recorded) => {
      about.owner ??= recorded.meta.account;
      const event = eventOf<DeliveryEvent>(recorded);
      if (event.type === "EventAdmitted" && event.data.bundle !== undefined) about.step = event.data.bundle;
    },
  });
  if (about.owner !== call.principal.account) return notFound();
  if (about.step !== undefined) return eraseOfBundle(deps, id, about.step, call);
  const reason = await personal.keep(stream, call.body.reason, call.envelope);
  const ran = await eraseEvent(log, { id, known, cause: { reason }, envelope: call.envelope });
  if (ran.outcome !== "accepted") await personal.forget(reason);
  if (ran.outcome === "rejected") {
    if (ran.rejection === "absent") return notFound();
    const detail = "An attempt to deliver this event is under way: its payload can be erased once that has ended.";
    return problem("conflict", detail, { retryAfterS: RETRY_AFTER_S });
  }
  const body = { event_id: id, erased_at: ran.known.state.erasedAt, bytes_removed: log.bytesRemoved };
  return { status: 200, body, ...positionOf(ran) };
};
