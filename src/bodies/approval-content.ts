import { defined } from "../../domain/defined.ts";
import { redactJson } from "../../domain/gate/redact.ts";
import type { Json } from "../../domain/json.ts";
import type { HiddenPaths } from "../redaction/answer-redaction.ts";
import { redactText } from "../redaction/redact-text.ts";
import { isFaithfulJson } from "../streams/strict-json.ts";
import { type Form, formOf } from "./approval-form.ts";

export type ContentOrder = {
  readonly asked: object;
  readonly steps: readonly object[] | null;
  /** Null if there is no payload, or it was erased. */
  readonly kept: { readonly body: Uint8Array; readonly salt: Uint8Array } | "damaged" | null;
  readonly hidden: HiddenPaths;
};

export type VisibleContent = {
  /** JSON text as bytes if another thread made it. */
  readonly payload: Json | Uint8Array;
  /** Null if the payload is erased or damaged, or is not JSON and has hidden fields. */
  readonly payload_format: "json" | "text" | "base64" | null;
  readonly redacted: boolean;
  /** The stored payload does not match its hash, so it is not shown and cannot be approved. */
  readonly payload_damaged?: true;
};

/** `hidden` is the whole payload if its fields cannot be told apart. */
type Content = VisibleContent & { readonly payload: Json; readonly hidden: HiddenPaths };

const WHOLE: HiddenPaths = [[]];
const NOTHING: Content = { payload: null, payload_format: null, redacted: false, hidden: [] };

const parsed = (text: string): { readonly json: Json } | null => {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return null;
  }
};

const visibleBody = (body: Buffer, hidden: HiddenPaths): Pick<Content, "payload" | "payload_format" | "hidden"> => {
  const text = body.toString("utf8");
  const isText = Buffer.from(text).equals(body);
  const it = isText ? parsed(text) : null;
  if (hidden.length > 0) {
    if (it === null) return { payload: null, payload_format: null, hidden: WHOLE };
    if (!isFaithfulJson(text)) return { payload: redactText(text, hidden), payload_format: "text", hidden };
    return { payload: redactJson(it.json, hidden), payload_format: "json", hidden };
  }
  if (!isText) return { payload: body.toString("base64"), payload_format: "base64", hidden };
  // An approver has to see what is sent, which a parser could change.
  if (it === null || !isFaithfulJson(text)) return { payload: text, payload_format: "text", hidden };
  return { payload: it.json, payload_format: "json", hidden };
};

const eventContent = ({ kept, hidden }: ContentOrder): Content => {
  if (kept === "damaged") return { ...NOTHING, hidden: WHOLE, payload_damaged: true };
  if (kept === null) return NOTHING;
  return { ...visibleBody(Buffer.from(kept.body), hidden), redacted: hidden.length > 0 };
};

const bundleContent = ({ kept, hidden }: ContentOrder, steps: readonly object[]): Content => {
  const isThere = kept !== null && kept !== "damaged";
  // The array of all steps' payloads, written by this service.
  const bodies = isThere ? (JSON.parse(Buffer.from(kept.body).toString("utf8")) as readonly Json[]) : [];
  const shown = steps.map((step, index) => ({ ...step, payload: redactJson(bodies[index] ?? null, hidden) }));
  return {
    payload: shown,
    payload_format: isThere ? "json" : null,
    redacted: hidden.length > 0,
    hidden: kept === "damaged" ? WHOLE : hidden,
    ...defined({ payload_damaged: kept === "damaged" ? (true as const) : undefined }),
  };
};

export const contentOf = (order: ContentOrder): VisibleContent & { readonly form: Form } => {
  const { asked, steps, kept } = order;
  const { hidden, ...content } = steps === null ? eventContent(order) : bundleContent(order, steps);
  const salt = kept === null || kept === "damaged" ? new Uint8Array() : kept.salt;
  return { ...content, form: formOf({ ...asked, ...content }, hidden, salt) };
};
