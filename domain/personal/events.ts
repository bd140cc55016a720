import type { JsonObject } from "../json.ts";

/** The bytes of a text are UTF-8, those of an object its canonical JSON (RFC 8785). */
export type PersonalValue = string | JsonObject;

export type Client = { readonly ip: string; readonly user_agent: string };

/** Stream `personal-<id>`, which an erasure removes; stream `erasure-<id>` keeps the record of the erasure. */
export type PersonalDataEvent = {
  readonly type: "PersonalDataKept";
  readonly data: {
    readonly id: string;
    readonly salt: string;
    readonly value: PersonalValue;
    /** The record with the commitment is in `stream`, after the revision `after`; null if `stream` had no records. */
    readonly stream: string;
    readonly after: number | null;
  };
};

export type PersonalErasureEvent = {
  readonly type: "PersonalDataErased";
  readonly data: { readonly id: string; readonly reason: string; readonly at: string };
};
