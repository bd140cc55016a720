import { suite } from "uvu";
import * as assert from "uvu/assert";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { remoteParent, traceIds } from "../../../src/http/traceparent.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

const test = suite("trace context");

test("a valid traceparent with any flags is continued", () => {
  for (const flags of ["00", "01", "ff"]) assert.is(remoteParent(`00-${TRACE}-${SPAN}-${flags}`)?.traceId, TRACE);
});

test("a later version may carry more fields after a dash", () => {
  assert.is(remoteParent(`01-${TRACE}-${SPAN}-01-what-the-future-will-be`)?.traceId, TRACE);
  assert.is(remoteParent(`cc-${TRACE}-${SPAN}-01`)?.traceId, TRACE);
  assert.is(remoteParent(`01-${TRACE}-${SPAN}-01.more`), null);
});

test("everything malformed begins a new trace", () => {
  const malformed = [
    undefined,
    "",
    "x",
    TRACE,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}`,
    `0-${TRACE}-${SPAN}-01`,
    `00-${TRACE.slice(1)}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-0g`,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01\n`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    `01-${TRACE}-${SPAN}-01-${"x".repeat(300)}`,
  ];
  for (const header of malformed) assert.is(remoteParent(header), null, header);
});

test("new ids have their length, are lower-case hex, and none comes twice", () => {
  const ids = traceIds(randomness);
  const seen = new Set<string>();
  for (let i = 0; i < 1_000; i += 1) {
    const [traceId, spanId] = [ids.traceId(), ids.spanId()];
    assert.match(traceId, /^[0-9a-f]{32}$/);
    assert.match(spanId, /^[0-9a-f]{16}$/);
    seen.add(traceId).add(spanId);
  }
  assert.is(seen.size, 2_000);
});

test.run();
