import { suite } from "uvu";
import * as assert from "uvu/assert";
import { decisionLines } from "../../../src/observing/log-lines.ts";

const test = suite("a line for each decision and each attempt");

test("they say what an observer is told and nothing beside it, whatever else hangs at what is told", () => {
  const lines: unknown[][] = [];
  const told = decisionLines(() => ({ info: (...line: unknown[]) => void lines.push(line) }));
  const decision = {
    ...{ trace_id: "t1", id: "evt_1", gate: "rate", code: "rate-reached", ms: 4 },
    ...{ origin: "source" as const, outcome: "blocked" as const, name: "ana", payload: "card 4111" },
  };
  const attempt = {
    ...{
      trace_id: "t1",
      event_id: "evt_1",
      endpoint_id: "end_1",
      number: 2,
      outcome: "timeout",
      status_code: null,
      ms: 9,
    },
    ...{ url: "https://secret@app.example", headers: { authorization: "Bearer x" } },
  };
  told.decided(decision);
  told.attempted(attempt);
  assert.equal(lines, [
    [
      { trace_id: "t1", id: "evt_1", origin: "source", outcome: "blocked", gate: "rate", code: "rate-reached", ms: 4 },
      "decided",
    ],
    [
      {
        trace_id: "t1",
        event_id: "evt_1",
        endpoint_id: "end_1",
        number: 2,
        outcome: "timeout",
        status_code: null,
        ms: 9,
      },
      "attempted",
    ],
  ]);
});

test.run();
