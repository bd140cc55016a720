import type { FieldPath } from "../../domain/gate/field-path.ts";
import { redactJson } from "../../domain/gate/redact.ts";
import type { Json } from "../../domain/json.ts";
import { redactText } from "../redaction/redact-text.ts";
import { isFaithfulJson } from "../streams/strict-json.ts";
import { type Form, formOf } from "./approval-form.ts";

type Hidden = readonly FieldPath[];

/** What an approval shows of what is decided on. */
export type ContentOrder = {
  /** All that is decided on but the payload. */
  readonly asked: object;
  /** Of a bundle: what is shown of each step but its payload. */
  readonly steps: readonly object[] | null;
  /** Null if there is none, or it was erased. */
  readonly kept: { readonly body: Uint8Array; readonly salt: Uint8Array } | "damaged" | null;
  /** In each step's payload if there are steps. */
  readonly hidden: Hidden;
};

/** The payload as a person reads it. */
export type ShownContent = {
  /** JSON as bytes if it comes from another thread. */
  readonly payload: Json | Uint8Array;
  /** Null: there is none to show, as it was erased or is damaged, or is not JSON and has fields that the policy hides. */
  readonly payload_format: "json" | "text" | "base64" | null;
  readonly redacted: boolean;
  /** What is stored does not match its hash: it is not shown, and cannot be approved. */
  readonly payload_damaged?: true;
};

/** `hidden`: the fields that were kept from the reader; the whole payload if fields cannot be told apart in it. */
type Content = ShownContent & { readonly payload: Json; readonly hidden: Hidden };

/** The path of the payload itself. */
const WHOLE: Hidden = [[]];
const NOTHING: Content = { payload: null, payload_format: null, redacted: false, hidden: [] };

const parsed = (text: string): { readonly json: Json } | null => {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return null;
  }
};

const bodyShown = (body: Buffer, hidden: Hidden): Pick<Content, "payload" | "payload_format" | "hidden"> => {
  const text = body.toString("utf8");
  const isText = Buffer.from(text).equals(body);
  const it = isText ? parsed(text) : null;
  if (hidden.length > 0) {
    // Nothing is shown rather than too much.
    if (it === null) return { payload: null, payload_format: null, hidden: WHOLE };
    if (!isFaithfulJson(text)) return { payload: redactText(text, hidden), payload_format: "text", hidden };
    return { payload: redactJson(it.json, hidden), payload_format: "json", hidden };
  }
  if (!isText) return { payload: body.toString("base64"), payload_format: "base64", hidden };
  // An approver has to see what is sent, and a parser may make something else of it.
  if (it === null || !isFaithfulJson(text)) return { payload: text, payload_format: "text", hidden };
  return { payload: it.json, payload_format: "json", hidden };
};

const eventContent = ({ kept, hidden }: ContentOrder): Content => {
  if (kept === "damaged") return { ...NOTHING, hidden: WHOLE, payload_damaged: true };
  if (kept === null) return NOTHING;
  return { ...bodyShown(Buffer.from(kept.body), hidden), redacted: hidden.length > 0 };
};

const bundleContent = ({ kept, hidden }: ContentOrder, steps: readonly object[]): Content => {
  const isThere = kept !== null && kept !== "damaged";
  // The array of all steps' payloads, written here by JSON.stringify.
  const bodies = isThere ? (JSON.parse(Buffer.from(kept.body).toString("utf8")) as readonly Json[]) : [];
  const shown = steps.map((step, index) => ({ ...step, payload: redactJson(bodies[index] ?? null, hidden) }));
  return {
    payload: shown,
    payload_format: isThere ? "json" : null,
    redacted: hidden.length > 0,
    hidden: kept === "damaged" ? WHOLE : hidden,
    ...(kept === "damaged" ? { payload_damaged: true } : {}),
  };
};

/** What is decided on without the fields that `hidden` names, and the digest of this form. */
export const contentOf = (order: ContentOrder): ShownContent & { readonly form: Form } => {
  const { asked, steps, kept } = order;
  const { hidden, ...content } = steps === null ? eventContent(order) : bundleContent(order, steps);
  const salt = kept === null || kept === "damaged" ? new Uint8Array() : kept.salt;
  return { ...content, form: formOf({ ...asked, ...content }, hidden, salt) };
};
