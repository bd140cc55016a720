import { suite } from "uvu";
import * as assert from "uvu/assert";
import { NO_TRACE, traceOfRecord } from "../../../src/streams/envelope.ts";
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

test.run();
