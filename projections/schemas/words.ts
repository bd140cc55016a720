import type { Failure } from "../../domain/delivery/attempt-end.ts";
import type { Quoted, Words } from "../../domain/personal/words.ts";
import { closed, count, type JsonSchema, list, oneOf, text } from "./json-schema.ts";

export const ACCOUNT = text("The account's id, acc_…. Everything in the document belongs to this account.");

export const ROLES = ["owner", "admin", "approver", "auditor", "viewer"] as const;

const FAILURE_KINDS: readonly Failure["kind"][] = [
  "dns",
  "connect",
  "tls",
  "timeout",
  "reset",
  "response-too-large",
  "redirect",
  "blocked-address",
  "http-4xx",
  "http-5xx",
  "invalid-response",
  "endpoint-deleted",
  "payload-erased",
  "payload-damaged",
];

export const FAILURE_KIND = oneOf(FAILURE_KINDS, "A code for programs.");

export const failure = (description: string) =>
  closed<Failure>(description, { kind: FAILURE_KIND, detail: text("The failure as a sentence.") });

/** `bins`: how many there are for each power of two. */
export const histogram = (description: string, bins = 8) =>
  list(
    { type: "integer", minimum: 0 },
    `${description} A histogram in whole milliseconds, flat: bin, count, bin, count …, by rising bin. A bin below ` +
      `${2 * bins} is its duration; for any other bin b, with s = floor(b / ${bins}) - 1, it counts durations from ` +
      `(b - ${bins} * s) * 2^s ms, 2^s of them. Histograms are merged by adding the counts of equal bins.`,
  );

/** A text that a person wrote, or an address: the view has its commitment, the log its text until that is erased. */
export const words = (description: string): JsonSchema =>
  closed<Words>(`${description} The commitment of a text, which GET /v1/audit shows until it is erased.`, {
    id: text("The commitment's id, per_…."),
    commitment: text("Hex SHA-256 over 16 random bytes and the text."),
    size: count("The text's bytes."),
  });

const QUOTED = closed<Quoted>("A person's words after a sentence of the program.", {
  sentence: text("The program's sentence."),
  words: words("The person's words."),
});

export const reason = (description: string): JsonSchema => ({
  description,
  anyOf: [text("The program's own reason."), words("A reason that a person wrote."), QUOTED],
});
