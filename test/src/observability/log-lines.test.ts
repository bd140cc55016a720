import { suite } from "uvu";
import * as assert from "uvu/assert";
import { programLogger } from "../../../src/http/program-logger.ts";
import { decisionLines, errorLines } from "../../../src/observability/log-lines.ts";

const test = suite("log lines of what the program does");

/** The program's logger, with what it writes. */
const logged = () => {
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)), flush: () => undefined };
  return { log: programLogger({ logLevel: "info" }, stream), lines };
};

test("the lines have the observer's fields only, whatever else an object has", () => {
  const { log, lines } = logged();
  const told = decisionLines(log);
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
  assert.equal(
    lines.map(({ time: _, ...line }) => line),
    [
      {
        ...{ level: 30, trace_id: "t1", id: "evt_1", origin: "source", outcome: "blocked" },
        ...{ gate: "rate", code: "rate-reached", ms: 4, msg: "decided" },
      },
      {
        ...{ level: 30, trace_id: "t1", event_id: "evt_1", endpoint_id: "end_1", number: 2 },
        ...{ outcome: "timeout", status_code: null, ms: 9, msg: "attempted" },
      },
    ],
  );
});

test("an error in the background names the part that failed and what it was doing", () => {
  const { log, lines } = logged();
  errorLines(log)("feed", "publishing records")(new Error("no broker"));
  const [{ level, part, msg, err } = {}] = lines;
  assert.equal({ level, part, msg }, { level: 50, part: "feed", msg: "feed failed while publishing records" });
  assert.is((err as Error).message, "no broker");
});

test.run();
