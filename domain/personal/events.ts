import type { JsonObject } from "../json.ts";
import type { PersonalId, Reason } from "./words.ts";

/** The bytes of a text are UTF-8, those of an object its canonical JSON (RFC 8785). */
export type PersonalValue = string | JsonObject;

export type Client = { readonly ip: string; readonly user_agent: string };

/** A command line that asks for a login, with the name that it gives its machine. */
export type DeviceClient = { readonly name: string } & Client;

/** Stream `personal-<id>`, which an erasure removes; stream `erasure-<id>` keeps the record of the erasure. */
export type PersonalDataEvent = {
  readonly type: "PersonalDataKept";
  readonly data: {
    readonly id: PersonalId;
    /** Whose it is, so that a member's data can be erased as a whole; null for what belongs to no member. */
    readonly member: string | null;
    readonly salt: string;
    readonly value: PersonalValue;
    /** The record with the commitment is in `stream`, after the revision `after`; null if `stream` had no records. */
    readonly stream: string;
    readonly after: number | null;
  };
};

export type PersonalErasureEvent = {
  readonly type: "PersonalDataErased";
  readonly data: { readonly id: string; readonly reason: Reason; readonly at: string };
};

/** Stream `erasure-<member id>`: all personal data of the member is erased after this record. */
export type MemberErasureEvent = {
  readonly type: "MemberErased";
  readonly data: { readonly account: string; readonly member: string; readonly reason: Reason; readonly at: string };
};
