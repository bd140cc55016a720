import { createHash } from "node:crypto";
import type { FormSeen } from "../../domain/approval/events.ts";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import { escapePointer } from "../../domain/gate/field-path.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { HiddenPaths } from "../redaction/answer-redaction.ts";

export type Form = FormSeen & { readonly shown_digest: string };

/** JSON Pointers (RFC 6901) to the hidden fields; "" is the whole payload. */
export const pointersOf = (hidden: HiddenPaths): readonly string[] =>
  hidden.map((path) => path.map((name) => `/${escapePointer(name)}`).join(""));

/** `shown_digest` includes the payload's salt, so that once both are erased, it does not help to guess the payload. */
export const formOf = (content: object, hidden: HiddenPaths, salt: Uint8Array): Form => {
  const pointers = pointersOf(hidden);
  // The compiler cannot see that an object with optional members is plain JSON.
  const text = canonicalJson({ content: content as JsonObject, hidden: pointers });
  return {
    form: pointers.length === 0 ? "full" : "redacted",
    hidden: pointers,
    shown_digest: createHash("sha256").update(salt).update(text).digest("hex"),
  };
};
