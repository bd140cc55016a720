import { suite } from "uvu";
import * as assert from "uvu/assert";
import { knownTypes } from "../../console/src/pages/record-sentences.ts";
import { type Entry, toldOf } from "../../console/src/pages/record-text.ts";
import { isRecord } from "../../projections/audit.ts";
import { broadHistory } from "../support/broad-history.ts";

const test = suite("records of the audit as sentences");

const NAMES: Readonly<Record<string, string>> = {
  end_b: "billing-app",
  pol_c: "support-refunds",
  mem_d: "Ben Okafor",
  acc_e: "Marlow Outdoor",
};
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

test("a vote is told with the form that its person was shown, and says if the form is kept", () => {
  const about = {
    subject: "apr_a",
    subject_name: "refund.create, 1240.00 EUR",
    personal: { per_1: "Photos checked." },
  };
  const note = (data: object): string =>
    told("VoteCast", { decision: "approve", ...data }, about).replace(
      "approved refund.create, €1,240.00 | VoteCast",
      "",
    );
  const form = { id: "pay_1", commitment: "00", size: 3 };
  const comment = { id: "per_1", commitment: "00", size: 3 };
  const [kept, seen] = [" The form is kept; an export with payloads has it.", { form: "full", hidden: [] }];
  assert.is(note({ shown: seen }), ". Every field was shown to them.");
  assert.is(
    note({ comment, shown: seen, shown_form: form }),
    `: “Photos checked.”. Every field was shown to them.${kept}`,
  );
  const redacted = (...hidden: readonly string[]) => note({ shown: { form: "redacted", hidden }, shown_form: form });
  assert.is(redacted("/iban"), `. The field /iban was hidden from them.${kept}`);
  assert.is(redacted("/a", "/b"), `. 2 fields were hidden from them: /a, /b.${kept}`);
  assert.is(redacted(""), `. The payload was hidden from them.${kept}`);
  assert.is(note({ shown: { form: "not stated", hidden: [] } }), ". What was shown to them is not recorded.");
  assert.is(note({ shown: "?" }), "", "another version may have written it");
});

test("a change of the account says what it is now", () => {
  const about = { subject: "acc_e", subject_name: "Marlow Outdoor" };
  assert.is(
    told("AccountChanged", { changes: { name: "Marlow", time_zone: "Europe/Berlin" } }, about),
    "changed the account Marlow Outdoor: name Marlow, time zone Europe/Berlin | AccountChanged",
  );
});

test("an attempt names its endpoint and what was answered", () => {
  const attempt = { endpoint_id: "end_b", number: 1 };
  assert.is(
    told("AttemptFailed", { ...attempt, status_code: 503, failure: { detail: "The receiver answered 503" } }),
    "sent refund.create to billing-app, attempt 1; HTTP 503 | AttemptFailed",
  );
});

test("a record of a count says how many requests, bytes or things of whom are counted", () => {
  const of = (subject: string, type: string, ...entries: readonly object[]): string =>
    told(type, { entries }, { subject, subject_name: null }).replace(/ \| .*/, "");
  const day = "pol_c-2026-11-17";
  const one = { event: "evt_a", cost: 5_000_000 };
  assert.is(of(day, "Reserved", one), "reserved €5.00 for 1 request of support-refunds, 2026-11-17");
  const raised = { ...one, cost: 6_000_000 };
  const other = { event: "evt_b", cost: 1_000_000 };
  assert.is(of(day, "Reserved", one, raised, other), "reserved €7.00 for 2 requests of support-refunds, 2026-11-17");
  assert.is(of(day, "Settled", one), "spent €5.00 for 1 request of support-refunds, 2026-11-17");
  const free = { event: "evt_a", cost: 0 };
  assert.is(of(day, "Reserved", { ...free, places: 3 }), "counted 3 requests of support-refunds, 2026-11-17");
  assert.is(of(day, "Settled", free), "kept counting 1 request of support-refunds, 2026-11-17");
  assert.is(of(day, "Released", free), "stopped counting 1 request of support-refunds, 2026-11-17");
  assert.is(of("pol_c.same-60-ab12", "Reserved", free), "counted 1 identical request of support-refunds");
  assert.is(of("pol_c.run-ticket-88213", "Reserved", free), "counted 1 request of support-refunds, run ticket-88213");
  const lease = { event: "lea_a", cost: 0, places: 65_536 };
  assert.is(
    of("acc_e-stored-2026-11-17", "Reserved", lease),
    "counted 65,536 bytes of Marlow Outdoor, stored on 2026-11-17",
  );
  assert.is(of("acc_e-sessions", "Reserved", free), "counted 1 sign-in of Marlow Outdoor");
  assert.is(of("acc_e-2026-11", "Reserved", free), "counted 1 request of Marlow Outdoor, 2026-11");
});

test("a test of an endpoint names it once, and an enabled endpoint may have had a circuit closed only", () => {
  const about = { subject: "end_b", subject_name: "billing-app" };
  const test = told("EndpointTestSent", { endpoint_id: "end_b" }, about);
  assert.is(test, "sent a test to billing-app | EndpointTestSent");
  const enabled = told("EndpointEnabled", { endpoint_id: "end_b" }, about);
  assert.is(
    enabled,
    "let events go to the endpoint billing-app again: it is enabled and its circuit closed | EndpointEnabled",
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
