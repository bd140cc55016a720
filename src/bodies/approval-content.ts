import { titleOf } from "../../domain/action/title.ts";
import { defined } from "../../domain/defined.ts";
import { redactJson } from "../../domain/gate/redact.ts";
import type { Json } from "../../domain/json.ts";
import type { HiddenPaths } from "../redaction/answer-redaction.ts";
import { redactText } from "../redaction/redact-text.ts";
import { isFaithfulJson } from "../streams/strict-json.ts";
import { type Form, formOf } from "./approval-form.ts";

export type ContentOrder = {
  readonly asked: object;
  readonly steps: readonly { readonly title: string | null }[] | null;
  /** Null if no payload was stored or it is erased; "damaged" if the payload does not match its recorded hash. */
  readonly kept: { readonly body: Uint8Array } | "damaged" | null;
  /** The salt of the form's digest: that of the payload, if one is shown. */
  readonly salt: Uint8Array;
  /** True if the form's bytes are needed, because a vote on it is to be recorded. */
  readonly withBytes?: true;
  readonly hidden: HiddenPaths;
  /** The template of the sentence; null without one, and for a bundle, whose steps have templates of their own. */
  readonly title: string | null;
};

export type VisibleContent = {
  /** The sentence, in which hidden fields are hidden; null without a template, or if the payload is not shown as JSON. */
  readonly title: string | null;
  /** The thread `body-reader` returns the payload as bytes of JSON text, which go into the answer unparsed. */
  readonly payload: Json | Uint8Array;
  /** Null if the payload is erased or damaged, or if it is not JSON and has fields that the reader may not see. */
  readonly payload_format: "json" | "text" | "base64" | null;
  readonly redacted: boolean;
  /** The stored payload does not match its hash, so it is not shown and cannot be approved. */
  readonly payload_damaged?: true;
};

/** `hidden` has the paths that are not shown: the root alone if the payload's fields cannot be told apart. */
type Content = VisibleContent & { readonly payload: Json; readonly hidden: HiddenPaths };

const WHOLE: HiddenPaths = [[]];
const NOTHING: Content = { title: null, payload: null, payload_format: null, redacted: false, hidden: [] };

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
  // The text itself is shown, because a parsed value might differ from the text that is sent after the approval.
  if (it === null || !isFaithfulJson(text)) return { payload: text, payload_format: "text", hidden };
  return { payload: it.json, payload_format: "json", hidden };
};

const eventContent = ({ kept, hidden, title }: ContentOrder): Content => {
  if (kept === "damaged") return { ...NOTHING, hidden: WHOLE, payload_damaged: true };
  if (kept === null) return NOTHING;
  const body = visibleBody(Buffer.from(kept.body), hidden);
  const shown = title !== null && body.payload_format === "json" ? titleOf(title, body.payload) : null;
  return { title: shown, ...body, redacted: hidden.length > 0 };
};

const bundleContent = (
  { kept, hidden }: ContentOrder,
  steps: readonly { readonly title: string | null }[],
): Content => {
  const isThere = kept !== null && kept !== "damaged";
  // This service wrote a bundle's payload: a JSON array with the payload of each step.
  const bodies = isThere ? (JSON.parse(Buffer.from(kept.body).toString("utf8")) as readonly Json[]) : [];
  const shown = steps.map(({ title, ...step }, index) => {
    const payload = redactJson(bodies[index] ?? null, hidden);
    return { ...step, title: title !== null && isThere ? titleOf(title, payload) : null, payload };
  });
  return {
    title: null,
    payload: shown,
    payload_format: isThere ? "json" : null,
    redacted: hidden.length > 0,
    hidden: kept === "damaged" ? WHOLE : hidden,
    ...defined({ payload_damaged: kept === "damaged" ? (true as const) : undefined }),
  };
};

export const contentOf = (order: ContentOrder): VisibleContent & { readonly form: Form } => {
  const { asked, steps, salt, withBytes = false } = order;
  const { hidden, ...content } = steps === null ? eventContent(order) : bundleContent(order, steps);
  return { ...content, form: formOf({ content: { ...asked, ...content }, hidden }, salt, withBytes) };
};
