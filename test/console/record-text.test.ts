import { suite } from "uvu";
import * as assert from "uvu/assert";
import { knownTypes } from "../../console/src/pages/record-sentences.ts";
import { type Entry, toldOf } from "../../console/src/pages/record-text.ts";
import { isRecord } from "../../projections/audit.ts";
import { broadHistory } from "../support/broad-history.ts";

const test = suite("records of the audit as sentences");

const NAMES: Readonly<Record<string, string>> = { end_b: "billing-app", pol_c: "support-refunds", mem_d: "Ben Okafor" };
const told = (type: string, data: object, over: Partial<Entry> = {}): string => {
  const entry = { type, subject: "evt_a", subject_name: "refund.create", data, personal: {}, ...over };
  const { before, name, after, note } = toldOf(entry, (id) => NAMES[id ?? ""] ?? null);
  return `${before}${name}${after} | ${note}`;
};

test("a request is told with its cost, what became of it, and the policy that decided", () => {
  const verdict = { policy: { id: "pol_c", version: 7 }, gates: [{ outcome: "deny", detail: "60 of 60 used" }] };
  const asked = { origin: { kind: "agent" }, cost: 12_400_000, verdict: { ...verdict, gates: [] } };
  assert.is(told("EventHeld", asked), "asked for refund.create, €12.40; it was held | EventHeld by support-refunds v7");
  assert.is(
    told("EventBlocked", { origin: { kind: "source" }, cost: null, verdict }),
    "sent refund.create; it was refused: 60 of 60 used | EventBlocked by support-refunds v7",
  );
});

test("a vote is told with the sum and the words of its person, until those are erased", () => {
  const vote = { decision: "approve", comment: { id: "per_1", commitment: "00", size: 3 } };
  const about = { subject: "apr_a", subject_name: "refund.create, 1240.00 EUR" };
  assert.is(
    told("VoteCast", vote, { ...about, personal: { per_1: "Photos checked." } }),
    "approved refund.create, €1,240.00 | VoteCast: “Photos checked.”",
  );
  assert.is(told("VoteCast", vote, about), "approved refund.create, €1,240.00 | VoteCast");
});

test("an attempt names its endpoint and what was answered, and a budget its policy and day", () => {
  const attempt = { endpoint_id: "end_b", number: 1 };
  assert.is(
    told("AttemptFailed", { ...attempt, status_code: 503, failure: { detail: "The receiver answered 503" } }),
    "sent refund.create to billing-app, attempt 1; HTTP 503 | AttemptFailed",
  );
  assert.is(
    told("Reserved", { entries: [{ cost: 5_000_000 }] }, { subject: "pol_c-2026-11-17", subject_name: null }),
    "reserved €5.00 of support-refunds, 2026-11-17 | Reserved",
  );
});

test("what a stranger wrote changes no sentence, and a record of a newer service is told by its type", () => {
  assert.is(
    told("EventDelivered", { endpoint_id: "end_b" }, { subject_name: "* constructor" }),
    "delivered * constructor to billing-app | EventDelivered",
  );
  assert.is(told("ThingHappened", {}), "thing happened: refund.create | ThingHappened");
  assert.is(told("constructor", []), "constructor: refund.create | constructor");
});

test("every kind of record that an account's history has is told in a sentence, whatever its record lacks", () => {
  const known = new Set(knownTypes());
  const types = new Set(
    broadHistory()
      .events.filter(isRecord)
      .map(({ type }) => type),
  );
  assert.equal(
    [...types].filter((type) => !known.has(type)),
    [],
  );
  for (const type of known) for (const data of [null, {}, { at: 1, entries: "x" }]) told(type, data as object);
});

test.run();
