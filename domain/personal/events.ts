import type { JsonObject } from "../json.ts";

/**
 * Stands in a record for personal data that can be erased. `commitment`: hex SHA-256 over 16 random bytes and the value's
 * bytes. `size`: how many bytes the value has. `id` names the stream with the value and the record of its erasure.
 */
export type Commitment = { readonly id: string; readonly commitment: string; readonly size: number };

/** The bytes of a text are its UTF-8; the bytes of an object are its RFC 8785 form. */
export type PersonalValue = string | JsonObject;

/** Where a request came from. */
export type Client = { readonly ip: string; readonly user_agent: string };

/** Stream `personal-<id>`: an erasure removes it. */
export type PersonalDataEvent = {
  readonly type: "PersonalDataKept";
  readonly data: {
    readonly id: string;
    /** Base64 of 16 bytes. */
    readonly salt: string;
    readonly value: PersonalValue;
    /** The stream of the record with the commitment: that record comes after the revision `after`. */
    readonly stream: string;
    readonly after: number | null;
  };
};

/** Stream `erasure-<id>`: the record that the value of a commitment was erased. */
export type PersonalErasureEvent = {
  readonly type: "PersonalDataErased";
  readonly data: { readonly id: string; readonly reason: string; readonly at: string };
};
