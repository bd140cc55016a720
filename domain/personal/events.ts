import type { JsonObject } from "../json.ts";

/**
 * Stands in a record for personal data that can be erased. `commitment`: hex SHA-256 over 16 random bytes and the
 * value's bytes. `size`: bytes of the value. `id` names the streams of the value and of its erasure.
 */
export type Commitment = { readonly id: string; readonly commitment: string; readonly size: number };

/** A text's bytes are UTF-8, an object's its RFC 8785 form. */
export type PersonalValue = string | JsonObject;

/** The origin of a request. */
export type Client = { readonly ip: string; readonly user_agent: string };

/** Stream `personal-<id>`, which an erasure removes. */
export type PersonalDataEvent = {
  readonly type: "PersonalDataKept";
  readonly data: {
    readonly id: string;
    /** Base64 of 16 bytes. */
    readonly salt: string;
    readonly value: PersonalValue;
    /** The record with the commitment is in `stream`, after the revision `after`. */
    readonly stream: string;
    readonly after: number | null;
  };
};

/** Stream `erasure-<id>`. */
export type PersonalErasureEvent = {
  readonly type: "PersonalDataErased";
  readonly data: { readonly id: string; readonly reason: string; readonly at: string };
};
