import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { eventPage, timelineShown } from "../../../src/console/browser/event-page.ts";
import { bytes, clock, duration, euro, percent, pretty, relative } from "../../../src/console/browser/format.ts";
import type { Screen } from "../../../src/console/browser/page.ts";
import { may } from "../../../src/console/browser/page.ts";
import { badge } from "../../../src/console/browser/parts.ts";
import { hrefOf, placeOf, searchOf } from "../../../src/console/browser/place.ts";
import { render } from "../../../src/console/browser/render.ts";
import { replayAsked } from "../../../src/console/browser/replays-page.ts";
import { elementsOf, h, textOf } from "../../../src/console/browser/tree.ts";
import { whyInDetail, whyOf } from "../../../src/console/browser/why.ts";
import { fakePage } from "../../support/fake-page.ts";
import { EVENT } from "./console-answers.ts";

const test = suite("console views");

test("times, sizes and amounts are short and say their units", () => {
  assert.equal([0, 999, 1_500, 90_000, 9_000_000, 260_000_000].map(duration), [
    "0 ms",
    "999 ms",
    "1.5 s",
    "1.5 min",
    "2.5 h",
    "3 d",
  ]);
  const now = Date.parse("2026-03-01T12:00:00Z");
  assert.is(relative("2026-03-01T11:59:30Z", now), "30 s ago");
  assert.is(relative("2026-03-01T14:00:00Z", now), "in 2 h");
  assert.is(relative("never", now), "never");
  assert.is(clock("2026-03-01T11:59:30.123Z"), "2026-03-01 11:59:30");
  assert.equal([812, 8_120, 8_120_000].map(bytes), ["812 B", "8.1 kB", "8.1 MB"]);
  assert.equal([null, 0, 2.5, 0.000125, 19].map(euro), ["unknown", "0.00 €", "2.50 €", "0.000125 €", "19.00 €"]);
  assert.equal([null, 0.995].map(percent), ["–", "99.5 %"]);
  assert.is(pretty("{}x"), "{}x");
});

test("indenting a text loses no digit and no name, and very deep nesting stays as it is", () => {
  assert.is(
    pretty('{"id":12345678901234567890,"a":1.0,"a":[],"b":{ },"c":[1e400,"\\u00e9\\n,:{"]}'),
    [
      ...["{", '  "id": 12345678901234567890,', '  "a": 1.0,', '  "a": [],', '  "b": {},'],
      ...['  "c": [', "    1e400,", '    "é\\n,:{"', "  ]", "}"],
    ].join("\n"),
  );
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  assert.is(pretty(deep), deep);
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const text = JSON.stringify(value);
      assert.is(pretty(text), JSON.stringify(JSON.parse(text), null, 2));
    }),
  );
});

test("a place and its address are the same thing", () => {
  const place = { page: "events", id: "evt_/ü?", query: { q: "a&b=c #1", status: "failed" } };
  assert.equal(placeOf(hrefOf(place.page, place.id, place.query)), place);
  assert.equal(placeOf(""), { page: "events", id: null, query: {} });
  assert.equal(placeOf("#/agents/"), { page: "agents", id: null, query: {} });
  assert.is(searchOf({ a: "", b: undefined }), "");
});

test("a row says in one look why an event is where it is", () => {
  const quiet = { ...EVENT, duplicates: 0, delivery_id_reused: 0 };
  assert.is(whyOf(quiet), "http-4xx: The receiver answered 400");
  assert.is(whyOf(EVENT), "http-4xx: The receiver answered 400; 2 duplicates; 1 refused with another body");
  const denied = { gate: "budget", outcome: "deny", code: "over-budget", detail: "250 of 250 EUR" };
  const blocked = { ...quiet, failure: null, verdict: { ...EVENT.verdict, gates: [...EVENT.verdict.gates, denied] } };
  assert.is(whyOf(blocked), "budget: 250 of 250 EUR");
  assert.is(whyOf({ ...quiet, failure: null }), "");
});

test("a held event gives the hold's reason, and an event that people or time ended gives the reason of that end", () => {
  const asked = { gate: "approval", outcome: "hold", code: "approval-required", detail: "needs an approval" };
  const event = { ...EVENT, failure: null, verdict: { ...EVENT.verdict, gates: [asked] } };
  assert.is(whyInDetail({ ...event, status: "held" }), "approval: needs an approval");
  assert.is(whyInDetail({ ...event, status: "delivered" }), "");
  const rejected = { stage: "rejected", at: EVENT.received_at, ms: 1, reason: "too much" };
  assert.is(whyInDetail({ ...event, status: "rejected", timeline: [rejected] }), "too much");
  assert.is(whyInDetail({ ...EVENT, status: "retrying" }), "http-4xx: The receiver answered 400");
});

test("the timeline shows the gaps and marks the long ones", () => {
  const tree = timelineShown(EVENT.timeline);
  const gaps = elementsOf(tree, "span").filter(({ attributes }) => String(attributes.class).startsWith("gap"));
  assert.equal(
    gaps.map((it) => [textOf(it), it.attributes.class]),
    [
      ["", "gap"],
      ["+2.5 s", "gap slow"],
      ["+3 ms", "gap"],
    ],
  );
});

const screen = (role: string): Screen => ({
  place: { page: "events", id: "evt_1", query: {} },
  now: 0,
  role,
  kept: {},
  act: () => undefined,
  keepText: () => undefined,
  keepAnswer: () => undefined,
  go: () => undefined,
});

test("only a failed or blocked event can be replayed, by a sufficient role, and a bundle's step only through its bundle", () => {
  const offers = (over: object, role = "admin") =>
    /Replay/.test(textOf(eventPage.show({ ...EVENT, ...over }, screen(role))));
  assert.ok(offers({}));
  assert.ok(offers({ status: "blocked" }));
  assert.not(offers({ status: "delivered" }));
  assert.not(offers({}, "approver"));
  assert.not(offers({ bundle: { id: "bun_1", index: 0, undo: false } }));
  assert.ok(eventPage.isMoving({ ...EVENT, status: "retrying" }));
  assert.not(eventPage.isMoving(EVENT));
});

test("a role includes the lower ones, and an unknown role may do nothing", () => {
  assert.ok(may(screen("owner"), "admin"));
  assert.not(may(screen("auditor"), "approver"));
  assert.not(may(screen("constructor"), "viewer"));
});

test("an unknown state is shown without a colour", () => {
  assert.is(badge("constructor").attributes.class, "badge plain");
  assert.is(badge("failed").attributes.class, "badge bad");
});

test("the request of a replay leaves out empty fields", () => {
  const fields = {
    status: "failed",
    source_id: "",
    endpoint_id: "end_1",
    from: "",
    to: "",
    rate_per_second: "",
    reason: "",
  };
  assert.equal(replayAsked(fields), { filter: { status: "failed", endpoint_id: "end_1" } });
});

test("no attribute can be a handler, a style or a foreign address", () => {
  const { document } = fakePage("<p></p>", fetch).browser;
  const rendering = (attributes: Record<string, string>) => () => render(document, h("a", attributes, "x"));
  for (const href of [
    "javascript:alert(1)",
    "//evil.example",
    "/\\evil.example",
    "https://evil.example",
    " #/x",
    "data:,x",
  ])
    assert.throws(rendering({ href }), /does not lead to the console/, href);
  assert.throws(rendering({ onclick: "alert(1)" }), /is not allowed in the console/);
  assert.throws(rendering({ style: "x" }), /is not allowed in the console/);
  assert.throws(rendering({ srcdoc: "x" }), /is not allowed in the console/);
  assert.not.throws(rendering({ href: "#/events" }));
  assert.not.throws(rendering({ href: "/v1/events/evt_1/payload" }));
});

test.run();
