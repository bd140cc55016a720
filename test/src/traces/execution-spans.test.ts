import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { allowed, denied, held } from "../../../domain/gate/verdict.ts";
import type { RecordedEvent } from "../../../domain/ports/event-log.ts";
import { executionSpans } from "../../../src/traces/execution-spans.ts";
import { attemptSpanId } from "../../../src/traces/span.ts";
import { approvalFacts, at, deliveryFacts, request, START } from "../../support/history.ts";
import { randomHistory } from "../../support/random-history.ts";
import {
  CALLER_ID,
  IN_TRACE,
  isWellFormed,
  ROOT_ID,
  spanNamed,
  TRACE_ID,
  tracedRecords,
} from "../../support/trace-facts.ts";

const test = suite("the spans of an event");

const facts = deliveryFacts();
const STREAM = "delivery-evt_1";
const AGENT = { kind: "agent", id: "agt_1", name: "orders", type: "agent" } as const;

test("an event delivered in the second attempt has one root below the caller's span, with two attempts", () => {
  const verdict = {
    decision: "allow",
    policy: { id: "pol_1", version: 3 },
    gates: [allowed("rate", "1 of 60")],
  } as const;
  const spans = executionSpans(
    tracedRecords(
      STREAM,
      facts.admitted({ verdict, received_at: at(0), authenticated_at: at(1), at: at(2) }),
      facts.started(1, 3),
      facts.attemptFailed(1, 4, at(5)),
      facts.started(2, 5),
      facts.succeeded(2, 6),
      facts.delivered(6),
    ),
    [],
  );
  isWellFormed(spans, 1);
  assert.equal(
    spans.map(({ name }) => name),
    ["ingest stripe", "authenticate", "decide", "gate rate", "POST", "POST"],
  );
  const [root, authenticate, decide, gate, first, second] = spans;
  assert.equal(
    [root?.traceId, root?.spanId, root?.parentId, root?.kind, root?.error],
    [TRACE_ID, ROOT_ID, CALLER_ID, "server", null],
  );
  assert.equal([root?.startMs, root?.endMs], [START, START + 6_000]);
  assert.equal([authenticate?.startMs, authenticate?.endMs], [START, START + 1_000]);
  assert.equal([decide?.startMs, decide?.endMs], [START + 1_000, START + 2_000]);
  assert.equal([gate?.parentId, gate?.startMs, gate?.endMs], [decide?.spanId, START + 2_000, START + 2_000]);
  assert.equal([first?.spanId, second?.spanId], [attemptSpanId("evt_1", 1), attemptSpanId("evt_1", 2)]);
  assert.equal([first?.kind, first?.parentId, first?.error], ["client", ROOT_ID, "http-5xx"]);
  assert.equal(first?.attributes, {
    "http.request.method": "POST",
    "http.response.status_code": 503,
    "error.type": "503",
    "countersign.attempt": 1,
    "countersign.attempt.trigger": "auto",
    "countersign.endpoint.id": "end_1",
  });
  assert.is(second?.attributes["http.request.resend_count"], 1);
  assert.equal([second?.error, second?.startMs, second?.endMs], [null, START + 5_000, START + 6_000]);
  assert.equal(root?.attributes, {
    "countersign.source.id": "src_1",
    "countersign.source.type": "stripe",
    "countersign.event.id": "evt_1",
    "countersign.event.type": "payment_intent.succeeded",
    "countersign.payload.size": 2,
    "countersign.endpoint.id": "end_1",
    "countersign.decision": "allow",
    "countersign.policy.id": "pol_1",
    "countersign.policy.version": 3,
    "countersign.cost.micro_eur": 20_000,
  });
});

test("a denial is an error that names gate and code, without text of the sender", () => {
  const gates = [
    allowed("scope", "in it"),
    denied("schema", "schema-mismatch", "/people/ana@example.com is no number"),
  ];
  const verdict = { decision: "deny", policy: null, gates } as const;
  const spans = executionSpans(tracedRecords(STREAM, facts.blocked({ verdict })), []);
  isWellFormed(spans, 1);
  assert.is(spanNamed(spans, "ingest stripe").error, "blocked");
  assert.is(spanNamed(spans, "decide").error, "schema: schema-mismatch");
  assert.is(spanNamed(spans, "gate schema").attributes["countersign.gate.code"], "schema-mismatch");
  assert.is(spanNamed(spans, "gate scope").error, null);
  assert.not.match(JSON.stringify(spans), /ana@example/);
});

test("an agent's request is a tool's execution in the names of the conventions", () => {
  const own = {
    origin: AGENT,
    type: "refund.create",
    action: { name: "refund.create", version: 4, digest: "d1" },
    run: { id: "run_7", depth: 1 },
  };
  const [root] = executionSpans(tracedRecords(STREAM, facts.admitted(own)), []);
  assert.is(root?.name, "execute_tool refund.create");
  assert.equal(
    Object.entries(root?.attributes ?? {}).filter(([key]) => key.startsWith("gen_ai.")),
    [
      ["gen_ai.operation.name", "execute_tool"],
      ["gen_ai.tool.name", "refund.create"],
      ["gen_ai.tool.type", "function"],
      ["gen_ai.tool.call.id", "evt_1"],
      ["gen_ai.agent.id", "agt_1"],
      ["gen_ai.agent.name", "orders"],
      ["gen_ai.conversation.id", "run_7"],
    ],
  );
});

test("a hold's span lasts until people end it and has their votes without their comments", () => {
  const approval = approvalFacts();
  const asked = tracedRecords(
    "approval-apr_1",
    approval.requested(),
    approval.voted("mem_1", "approve", 50, "my own words"),
    approval.voted("mem_2", "reject", 60, "my own words"),
  );
  const others = tracedRecords("approval-apr_2", approvalFacts("apr_2").voted("mem_3", "reject", 5));
  const gates = [held("approval", "needs-approval", "needs an approval")];
  const heldEvent = facts.held({}, { verdict: { decision: "hold", policy: null, gates } });
  const by = { trace_id: "f".repeat(32), span_id: "e".repeat(16) };
  for (const [end, error, until] of [
    [facts.released(70), null, 90],
    [facts.holdEnded(70, "rejected"), "rejected", 70],
  ] as const) {
    // People answer in a trace of their own.
    const after = error === null ? [facts.started(1, 80), facts.succeeded(1, 90)] : [];
    const spans = executionSpans(tracedRecords(STREAM, heldEvent, [end, by], ...after), [...asked, ...others]);
    isWellFormed(spans, 1);
    const hold = spanNamed(spans, "hold for approval");
    assert.equal([hold.startMs, hold.endMs, hold.error, hold.traceId], [START, START + 70_000, error, TRACE_ID]);
    assert.equal(
      hold.events.map(({ name, atMs, attributes }) => [name, atMs - START, attributes["countersign.member.id"]]),
      [
        ["approve", 50_000, "mem_1"],
        ["reject", 60_000, "mem_2"],
      ],
    );
    const root = spanNamed(spans, "ingest stripe");
    assert.equal([root.error, root.endMs], [error, START + until * 1_000]);
    assert.not.match(JSON.stringify(spans), /own words|said so/);
  }
});

test("an execution that has not ended has the spans that are known", () => {
  const held = executionSpans(tracedRecords(STREAM, facts.held()), []);
  assert.equal(
    held.map(({ name }) => name),
    ["ingest stripe", "authenticate", "decide"],
  );
  const trying = executionSpans(tracedRecords(STREAM, facts.admitted(), facts.started(1, 3)), []);
  isWellFormed(trying, 1);
  assert.is(spanNamed(trying, "POST").error, "its end is unknown");
});

test("an attempt whose process died ends with the next one, and only its own span is an error", () => {
  const records = [
    facts.admitted(),
    facts.started(1, 1),
    facts.started(2, 31),
    facts.succeeded(2, 33),
    facts.delivered(33),
  ];
  const spans = executionSpans(tracedRecords(STREAM, ...records), []);
  isWellFormed(spans, 1);
  const [first, second] = spans.filter(({ name }) => name === "POST");
  assert.equal([first?.error, first?.endMs], ["its end is unknown", START + 31_000]);
  assert.equal([second?.error, second?.endMs], [null, START + 33_000]);
  assert.is(spanNamed(spans, "ingest stripe").error, null);
});

test("an execution that failed or was cancelled is an error and ends its running attempt", () => {
  const failed = [facts.admitted(), facts.started(1, 1), facts.attemptFailed(1, 2, null), facts.failed(2)];
  assert.is(spanNamed(executionSpans(tracedRecords(STREAM, ...failed), []), "ingest stripe").error, "http-5xx");
  const stopped = [facts.admitted(), facts.started(1, 1), facts.cancelling(2), facts.cancelled(9, 1)];
  const spans = executionSpans(tracedRecords(STREAM, ...stopped), []);
  isWellFormed(spans, 1);
  assert.equal([spanNamed(spans, "ingest stripe").error, spanNamed(spans, "POST").endMs], ["cancelled", START + 9_000]);
});

test("a replayed decision begins with the replay, so that no gate seems to take days", () => {
  const times = { received_at: at(0), authenticated_at: at(0) };
  const verdict = { decision: "allow", policy: null, gates: [allowed("rate", "1 of 60")] } as const;
  const replay = { id: "rpl_1", by: { kind: "member", id: "mem_1" }, reason: null } as const;
  const [first, again] = tracedRecords(
    STREAM,
    facts.blocked({ ...times, at: at(1) }),
    facts.admitted({ ...times, verdict, replay, at: at(259_200) }),
  );
  if (first === undefined || again === undefined) throw new Error("two decisions");
  // As it is written down: in the sender's trace, a span of its own.
  const named = { ...again, meta: { ...again.meta, span_id: "c".repeat(16) } };
  const spans = executionSpans([first, named], []).slice(executionSpans([first], []).length);
  assert.equal(
    spans.map(({ name, startMs, endMs }) => [name, startMs - START, endMs - START]),
    ["ingest stripe", "decide", "gate rate"].map((name) => [name, 259_200_000, 259_200_000]),
  );
  assert.is(spans[0]?.attributes["countersign.replay.id"], "rpl_1");
});

test("a replay is a separate span below the root, which does not change", () => {
  const failed = [facts.admitted(), facts.started(1, 1), facts.attemptFailed(1, 2, null), facts.failed(2)];
  const before = executionSpans(tracedRecords(STREAM, ...failed), []);
  const again = [
    ...[facts.replayed(100), facts.started(2, 101, "replay"), facts.attemptFailed(2, 102, null), facts.failed(102)],
    ...[facts.replayed(200, { id: "rpl_2" }), facts.started(3, 201, "replay"), facts.succeeded(3, 202)],
  ];
  const spans = executionSpans(tracedRecords(STREAM, ...failed, ...again, facts.delivered(202)), []);
  isWellFormed(spans, 1);
  assert.equal(spans.slice(0, before.length), before);
  const [one, two] = spans.filter(({ name }) => name === "replay");
  assert.equal(
    [one, two].map((it) => [it?.parentId, it?.error, it?.endMs, it?.attributes["countersign.replay.id"]]),
    [
      [ROOT_ID, "http-5xx", START + 102_000, "rpl_1"],
      [ROOT_ID, null, START + 202_000, "rpl_2"],
    ],
  );
  assert.equal(
    spans.filter(({ name }) => name === "POST").map(({ parentId }) => parentId),
    [ROOT_ID, one?.spanId, two?.spanId],
  );
});

test("later repeats and erasures are events of the root and do not prolong it", () => {
  const late = [facts.duplicates(3, 1_000), facts.erased(2_000), { type: "OfALaterVersion", data: {} }] as const;
  const [root] = executionSpans(tracedRecords(STREAM, facts.admitted(), facts.delivered(5), ...late), []);
  assert.is(root?.endMs, START + 5_000);
  assert.equal(
    root?.events.map(({ name, atMs }) => [name, atMs - START]),
    [
      ["DuplicatesCounted", 1_000_000],
      ["PayloadErased", 2_000_000],
    ],
  );
});

test("an event sent again after a denial has a root for each decision", () => {
  const gates = [denied("rate", "rate-reached", "60 of 60")];
  const blocked = facts.blocked({ verdict: { decision: "deny", policy: null, gates } });
  const again = { ...IN_TRACE, span_id: "3333333333333333" };
  const other = { trace_id: "e".repeat(32), span_id: "4444444444444444" };
  const spans = executionSpans(tracedRecords(STREAM, blocked, [blocked, again], [facts.admitted(), other]), []);
  isWellFormed(spans, 3);
  const roots = spans.filter(({ kind }) => kind === "server");
  assert.equal(
    roots.map(({ traceId, parentId, error }) => [traceId, parentId, error]),
    [
      [TRACE_ID, CALLER_ID, "blocked"],
      [TRACE_ID, CALLER_ID, "blocked"],
      [other.trace_id, null, null],
    ],
  );
});

test("a bundle's step is below the bundle, and a notification has no parent", () => {
  const step = { origin: AGENT, bundle: { id: "bun_1", index: 2, undo: true } };
  const [below, ...rest] = executionSpans(tracedRecords(STREAM, facts.admitted(step)), []);
  assert.equal([below?.parentId, below?.kind, below?.attributes["countersign.bundle.step"]], [ROOT_ID, "internal", 2]);
  assert.equal(
    rest.map(({ name, parentId }) => [name, parentId]),
    [["decide", below?.spanId]],
  );
  const origin = {
    kind: "system",
    id: "approval.requested",
    name: "approval.requested",
    type: "notification",
  } as const;
  const told = executionSpans(tracedRecords(STREAM, facts.admitted({ origin, type: origin.name })), []);
  assert.equal(
    told.map(({ name, parentId }) => [name, parentId]),
    [["notify approval.requested", null]],
  );
});

test("a clock that was set back makes no span end before its start or lie outside of its root", () => {
  const records = [
    facts.admitted({ received_at: at(100), authenticated_at: at(90), at: at(50) }),
    facts.started(1, 40),
  ];
  const spans = executionSpans(
    tracedRecords(STREAM, ...records, facts.attemptFailed(1, 30, null), facts.failed(20)),
    [],
  );
  isWellFormed(spans, 1);
});

const GATES = [allowed("rate", "1 of 60"), denied("budget", "budget-spent", "0.00 EUR left"), allowed("rate", "again")];
const times = fc.tuple(fc.nat(90), fc.nat(90), fc.nat(90));
const requestAt = ([received, authenticated, decided]: readonly number[], gates: number) => {
  const verdict = { ...request().verdict, gates: GATES.slice(0, gates) };
  return { verdict, received_at: at(received ?? 0), authenticated_at: at(authenticated ?? 0), at: at(decided ?? 0) };
};
const decided = fc.record({ at: times, gates: fc.nat(3) });
const attempts = fc.array(
  fc.record({ from: fc.nat(200), end: fc.constantFrom("ok", "failed", "lost"), ms: fc.nat(90) }),
  {
    maxLength: 5,
  },
);

/** As deciders allow them: refused any number of times, then let through at once or by people, attempts, an end or none. */
const plausible = fc
  .record({
    refused: fc.array(decided, { maxLength: 3 }),
    admitted: fc.option(
      fc.record({ ...{ how: decided, attempts }, held: fc.constantFrom("no", "released", "rejected") }),
    ),
    end: fc.constantFrom("none", "failed", "cancelled", "erased"),
  })
  .map(({ refused, admitted, end }) => {
    let spans = 0x100;
    const trace = () => {
      spans += 1;
      return { ...IN_TRACE, span_id: spans.toString(16).padStart(16, "0") };
    };
    const records: Parameters<typeof tracedRecords>[1][] = refused.map((it) => [
      facts.blocked(requestAt(it.at, it.gates)),
      trace(),
    ]);
    if (admitted === null) return { decisions: refused.length, records };
    const own = requestAt(admitted.how.at, admitted.how.gates);
    records.push([admitted.held === "no" ? facts.admitted(own) : facts.held({}, own), trace()]);
    if (admitted.held === "rejected") records.push(facts.holdEnded(100, "rejected"));
    else {
      if (admitted.held === "released") records.push(facts.released(100));
      for (const [index, attempt] of admitted.attempts.entries()) {
        records.push(facts.started(index + 1, attempt.from));
        if (attempt.end === "ok") records.push(facts.succeeded(index + 1, attempt.from + attempt.ms));
        if (attempt.end === "failed") records.push(facts.attemptFailed(index + 1, attempt.from + attempt.ms, null));
      }
    }
    if (end === "failed") records.push(facts.failed(300));
    if (end === "cancelled") records.push(facts.cancelled(300));
    if (end === "erased") records.push(facts.erased(900));
    return { decisions: refused.length + 1, records };
  });

test("random histories have one root for each decision, all parents, and times inside of them", () => {
  fc.assert(
    fc.property(plausible, ({ decisions, records }) => {
      const all = tracedRecords(STREAM, ...records);
      const spans = executionSpans(all, []);
      isWellFormed(spans, decisions);
      assert.equal(executionSpans(all, []), spans, "made again it is the same");
      // What is known at any time before is part of it, to the id.
      const ids = new Set(spans.map(({ spanId }) => spanId));
      for (let known = 0; known < all.length; known += 1) {
        assert.ok(executionSpans(all.slice(0, known), []).every(({ spanId }) => ids.has(spanId)));
      }
    }),
  );
});

test("a stream that no decider would write has spans as well", () => {
  const ofStream = (events: readonly RecordedEvent[], prefix: string) =>
    events.filter(({ stream }) => stream.startsWith(prefix));
  fc.assert(
    fc.property(randomHistory, ({ events }) => {
      for (const span of executionSpans(ofStream(events, "delivery-evt_1"), ofStream(events, "approval-"))) {
        assert.ok(Number.isSafeInteger(span.startMs) && span.endMs >= span.startMs);
      }
    }),
  );
});

test.run();
