import type { FormSeen } from "../../domain/approval/events.ts";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import { escapePointer } from "../../domain/gate/field-path.ts";
import type { JsonObject } from "../../domain/json.ts";
import { keyedHash } from "../../infra/crypto/keyed-hash.ts";
import type { HiddenPaths } from "../redaction/answer-redaction.ts";
import { saltedHash } from "../streams/commitments.ts";

/** `bytes` are those that `shown_digest` commits to, if they were asked for. */
export type Form = FormSeen & { readonly shown_digest: string; readonly bytes?: Uint8Array };

/** The salt of a form without a payload. It has to be the same when the form is read and when it is decided on. */
export type FormSalt = (approvalId: string) => Uint8Array;

const SALT_HEX_LENGTH = 32;

export const formSalts = (key: Uint8Array): FormSalt => {
  const hash = keyedHash(key, "forms");
  return (approvalId) => Buffer.from(hash(approvalId).slice(0, SALT_HEX_LENGTH), "hex");
};

/** JSON Pointers (RFC 6901) to the hidden fields; "" is the whole payload. */
export const pointersOf = (hidden: HiddenPaths): readonly string[] =>
  hidden.map((path) => path.map((name) => `/${escapePointer(name)}`).join(""));

type Shown = { readonly content: object; readonly hidden: HiddenPaths };

/**
 * `shown_digest` is a commitment: once the salt is erased, nobody can find out by guessing what was shown. A form with a
 * payload has the payload's salt, so both are erased together.
 */
export const formOf = ({ content, hidden }: Shown, salt: Uint8Array, withBytes: boolean): Form => {
  const pointers = pointersOf(hidden);
  // The compiler cannot see that an object with optional members is plain JSON.
  const bytes = Buffer.from(canonicalJson({ content: content as JsonObject, hidden: pointers }));
  return {
    form: pointers.length === 0 ? "full" : "redacted",
    hidden: pointers,
    shown_digest: saltedHash(salt, bytes),
    ...(withBytes ? { bytes } : {}),
  };
};
