import { createHmac } from "node:crypto";
import type { JsonObject } from "../../../domain/json.ts";

/** The time of a sample and the ids in it, all derived from a seed, so that each sample has ids of its own. */
export type Moment = {
  readonly iso: string;
  /** Unix time. */
  readonly seconds: number;
  id(length?: number): string;
  digits(length: number): number;
  uuid(): string;
};

/** A sample before it is signed. The name under which a provider lists it is the event type that it identifies. */
export type Unsigned = { readonly headers?: Readonly<Record<string, string>>; readonly payload: JsonObject };

export type Samples = Readonly<Record<string, (moment: Moment) => Unsigned>>;

const LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 24;
/** A double holds every integer of so many digits exactly. */
const DIGITS_MAX = 15;

export const momentOf = (ms: number, seed: Uint8Array): Moment => {
  let count = 0;
  const bytes = (): Buffer => {
    count += 1;
    return createHmac("sha256", seed).update(String(count)).digest();
  };
  return {
    iso: new Date(ms).toISOString(),
    seconds: Math.floor(ms / 1_000),
    id: (length = ID_LENGTH) =>
      Array.from(bytes().subarray(0, length), (byte) => LETTERS[byte % LETTERS.length]).join(""),
    digits(length) {
      const digits = Array.from(bytes().subarray(0, Math.min(length, DIGITS_MAX)), (byte) => byte % 10);
      // A number does not begin with 0.
      return Number([1 + ((digits[0] ?? 0) % 9), ...digits.slice(1)].join(""));
    },
    uuid: () =>
      bytes()
        .toString("hex")
        .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-8$4-$5"),
  };
};
