import { suite } from "uvu";
import * as assert from "uvu/assert";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { NO_TRACE, Recorder, traceOfRecord } from "../../../src/streams/envelope.ts";
import { history } from "../../support/history.ts";

const test = suite("the trace of a record");

const record = history().add("approval-apr_1", { type: "ApprovalExpired", data: {} });

test("it is the one that it was written in", () => {
  const { trace_id, span_id } = record.meta;
  assert.equal(traceOfRecord(record), { trace_id, span_id });
});

test("a command that follows from a record without a trace begins a trace derived from that record", () => {
  const untraced = { ...record, meta: { ...record.meta, ...NO_TRACE } };
  const begun = traceOfRecord(untraced);
  assert.match(begun.trace_id, /^(?!0{32})[0-9a-f]{32}$/);
  assert.match(begun.span_id, /^(?!0{16})[0-9a-f]{16}$/);
  assert.equal(traceOfRecord(untraced), begun);
  assert.not.equal(traceOfRecord({ ...untraced, id: "another" }).trace_id, begun.trace_id);
});

test("record ids are UUIDs of version 8, and none occurs twice", () => {
  const [one, other] = [new Recorder(randomness), new Recorder(randomness)];
  const facts = Array.from({ length: 100 }, () => ({ type: "ApprovalExpired", data: {} }));
  const envelope = {
    commandId: "c",
    account: "",
    actor: { kind: "system", id: "x" },
    trace: NO_TRACE,
    at: "",
  } as const;
  const made = Array.from({ length: 100 }, () => [...one.toEvents(facts, envelope), ...other.toEvents(facts, envelope)])
    .flat()
    .map(({ id }) => id);
  for (const id of made) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.is(new Set(made).size, made.length);
});

test.run();
