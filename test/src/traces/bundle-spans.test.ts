import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { allowed } from "../../../domain/gate/verdict.ts";
import { bundleSpans } from "../../../src/traces/bundle-spans.ts";
import { approvalFacts, at, bundleFacts, START } from "../../support/history.ts";
import { randomHistory } from "../../support/random-history.ts";
import { CALLER_ID, isWellFormed, ROOT_ID, spanNamed, TRACE_ID, tracedRecords } from "../../support/trace-facts.ts";

const test = suite("the spans of a bundle");

const facts = bundleFacts();
const STREAM = "bundle-bun_1";
const gates = [allowed("scope", "in it"), allowed("budget", "enough")];
const own = { verdict: { decision: "allow", policy: null, gates } } as const;

test("a rolled back bundle's root lasts until the last undo and has the outcome of each step", () => {
  const spans = bundleSpans(
    tracedRecords(
      STREAM,
      facts.admitted({ ...own, received_at: at(0), at: at(1) }),
      facts.started(0, 2),
      facts.ended(0, 3, "succeeded"),
      facts.refused(1, 4),
      facts.rollback(4, 1, "the agent's own words"),
      facts.undoing(0, 5),
      facts.undone(0, 9, "compensated"),
      facts.rolledBack(9),
      facts.spent(9, null),
    ),
    [],
  );
  isWellFormed(spans, 1);
  assert.equal(
    spans.map(({ name }) => name),
    ["execute_bundle", "authenticate", "decide", "gate scope", "gate budget"],
  );
  const [root] = spans;
  assert.equal([root?.traceId, root?.spanId, root?.parentId, root?.kind], [TRACE_ID, ROOT_ID, CALLER_ID, "server"]);
  assert.equal([root?.error, root?.startMs, root?.endMs], ["rolled back", START, START + 9_000]);
  assert.equal(
    root?.events.map(({ name, attributes }) => [name, ...Object.values(attributes)]),
    [
      ["step ended", 0, "succeeded"],
      ["step refused", 1, "missing-result"],
      ["rollback started"],
      ["step undone", 0, "compensated"],
    ],
  );
  assert.not.match(JSON.stringify(spans), /own words|answered nothing/);
});

test("a committed bundle is no error; a blocked, rejected or incomplete one is", () => {
  const errorOf = (...records: Parameters<typeof tracedRecords>[1][]) =>
    spanNamed(bundleSpans(tracedRecords(STREAM, ...records), []), "execute_bundle").error;
  assert.is(errorOf(facts.admitted(own), facts.committed(3)), null);
  assert.is(errorOf(facts.blocked()), "blocked");
  assert.is(errorOf(facts.held(), facts.holdEnded(5, "expired")), "expired");
  const left = [facts.admitted(own), facts.rollback(4), facts.incomplete(8, 0)] as const;
  assert.is(errorOf(...left), "rollback incomplete");
});

test("a held bundle's hold has its votes", () => {
  const votes = tracedRecords("approval-apr_1", approvalFacts("apr_1").voted("mem_1", "approve", 30));
  const spans = bundleSpans(tracedRecords(STREAM, facts.held(), facts.released(31), facts.committed(40)), votes);
  isWellFormed(spans, 1);
  const hold = spanNamed(spans, "hold for approval");
  assert.equal([hold.endMs - START, hold.error, hold.events.length], [31_000, null, 1]);
});

test("later resolutions and erasures are events of the root and do not prolong it", () => {
  const erased = {
    type: "BundlePayloadErased",
    data: { bundle_id: "bun_1", reason: "days", up_to: 0, at: at(90_000) },
  } as const;
  const late = [facts.resolved(0, 500), erased, { type: "OfALaterVersion", data: {} }] as const;
  const [root] = bundleSpans(tracedRecords(STREAM, facts.admitted(own), facts.incomplete(8, 0), ...late), []);
  assert.is(root?.endMs, START + 8_000);
  assert.equal(
    root?.events.map(({ name }) => name),
    ["step resolved by hand", "payload erased"],
  );
});

test("a stream that no decider would write has spans as well", () => {
  fc.assert(
    fc.property(randomHistory, ({ events }) => {
      const records = events.filter(({ stream }) => stream === "bundle-bun_1");
      for (const span of bundleSpans(records, [])) {
        assert.ok(Number.isSafeInteger(span.startMs) && span.endMs >= span.startMs);
      }
    }),
  );
});

test.run();
