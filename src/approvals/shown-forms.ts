import type { PayloadEvent } from "../../domain/delivery/payload-events.ts";
import { type Commitment, formId, payloadId } from "../../domain/evidence/commitment.ts";
import type { EventLog, Expected, Revision } from "../../domain/ports/event-log.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";
import { eraseLeft } from "../erasure/erasures.ts";
import type { PersonalData } from "../erasure/personal-data.ts";
import type { ByteAllowances } from "../ledgers/byte-allowances.ts";
import { type Envelope, toEvents } from "../streams/envelope.ts";
import { encodeBody, slicesOf } from "../streams/payload-encoding.ts";
import { payloadStream } from "../streams/payloads.ts";
import { appendKnown } from "../streams/run-command.ts";
import { approvalStream } from "./approvals.ts";

/** The payload that a form shows: of which event or bundle, and its revision in the payload's stream. */
export type ShownPayload = { readonly subject: string; readonly revision: Revision };

export type ShownForm = {
  readonly approvalId: string;
  readonly payload: ShownPayload | null;
  readonly salt: Uint8Array;
  readonly bytes: Uint8Array;
  /** `shown_digest`, which is the commitment to the bytes. */
  readonly digest: string;
};

export type ShownFormsDeps = {
  readonly log: EventLog;
  readonly personal: Pick<PersonalData, "keep">;
  readonly allowances: Pick<ByteAllowances, "take">;
};

const KEEP_ATTEMPTS_MAX = 64;

/** Appends to the payload's stream, whatever was appended to it meanwhile, and returns the revision. */
const appendLast = async (
  log: EventLog,
  stream: string,
  fact: Extract<PayloadEvent, { type: "FormKept" | "PayloadPartKept" }>,
  envelope: Envelope,
): Promise<Revision> => {
  let expected: Exclude<Expected, "any"> = (await log.last(stream))?.revision ?? "absent";
  for (let attempt = 1; attempt <= KEEP_ATTEMPTS_MAX; attempt += 1) {
    const appended = await appendKnown(log, stream, expected, toEvents([fact], envelope));
    if (appended.outcome === "appended") return appended.revision;
    expected = appended.actual;
  }
  throw new LogUnavailable(`the stream ${stream} is written by too many at once`);
};

const keepWithPayload = async (
  log: EventLog,
  { subject, revision }: ShownPayload,
  { approvalId, salt, bytes, digest }: ShownForm,
  envelope: Envelope,
): Promise<Commitment> => {
  const stream = payloadStream(subject);
  const slices = slicesOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  const parts: Revision[] = [];
  for (const [index, slice] of slices.slice(0, -1).entries()) {
    const data = { event_id: subject, ...encodeBody(slice) };
    const named = { ...envelope, commandId: `${envelope.commandId}/form/part-${index}` };
    parts.push(await appendLast(log, stream, { type: "PayloadPartKept", data }, named));
  }
  const data = {
    event_id: subject,
    approval_id: approvalId,
    salt: Buffer.from(salt).toString("base64"),
    ...encodeBody(slices.at(-1) ?? Buffer.alloc(0)),
    ...(parts.length === 0 ? {} : { parts }),
  };
  const named = { ...envelope, commandId: `${envelope.commandId}/form` };
  const at = await appendLast(log, stream, { type: "FormKept", data }, named);
  // The payload may have been erased since it was read. Whoever erases it from now on finds the form in its stream.
  await eraseLeft(log, subject);
  return { id: formId(payloadId(subject, revision), at), commitment: digest, size: bytes.length };
};

/**
 * Keeps the form that a voter was shown: with the payload that it shows, so that both are erased together, else as personal
 * data that belongs to nobody. The caller appends the vote that names the commitment next.
 */
export const keepShownForm = async (
  { log, personal, allowances }: ShownFormsDeps,
  form: ShownForm,
  envelope: Envelope,
): Promise<Commitment> => {
  const { approvalId, payload, salt, bytes } = form;
  // It counts like a payload. But nobody may be kept from deciding, so a form is kept also when the account's bytes are used up.
  await allowances.take(envelope.account, "stored", bytes.length);
  if (payload !== null) return keepWithPayload(log, payload, form, envelope);
  const text = Buffer.from(bytes).toString("utf8");
  return personal.keep(approvalStream(approvalId), text, envelope, { member: null, salt });
};
