import { createHash } from "node:crypto";
import type { FormSeen } from "../../domain/approval/events.ts";
import { escapePointer } from "../../domain/gate/field-path.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Hidden } from "../redaction/hidden-answer.ts";
import { canonicalJson } from "../streams/canonical-json.ts";

/** One form of an approval: what a reader decides on, and which fields the policy keeps from that reader. */
export type Form = FormSeen & { readonly shown_digest: string };

/** JSON Pointers (RFC 6901); "" is the whole payload. */
export const pointersOf = (hidden: Hidden): readonly string[] =>
  hidden.map((path) => path.map((name) => `/${escapePointer(name)}`).join(""));

/**
 * The digest that a vote names beside that of the request: hex SHA-256 over the payload's salt and the canonical form
 * (RFC 8785) of what is shown. The salt goes with the payload, so a record of the digest does not help to guess a payload
 * that was erased. Without a payload there is no salt, and nothing to guess.
 */
export const formOf = (content: object, hidden: Hidden, salt: Uint8Array): Form => {
  const pointers = pointersOf(hidden);
  // What an answer consists of is plain JSON; the compiler cannot see that of an optional member.
  const text = canonicalJson({ content: content as JsonObject, hidden: pointers });
  return {
    form: pointers.length === 0 ? "full" : "redacted",
    hidden: pointers,
    shown_digest: createHash("sha256").update(salt).update(text).digest("hex"),
  };
};
