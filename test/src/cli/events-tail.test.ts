import { suite } from "uvu";
import * as assert from "uvu/assert";
import { allowed, denied } from "../../../domain/gate/verdict.ts";
import { lineOfRequest } from "../../../src/cli/event-line.ts";
import { matches } from "../../../src/cli/events-tail.ts";
import { request } from "../../support/history.ts";

const test = suite("what is followed is found as it is searched for");

const gates = [allowed("schema", "ok"), denied("budget", "cost-unknown", "no amount"), denied("loop", "repeated", "3")];
const refused = request({ type: "order.paid", verdict: { decision: "deny", policy: null, gates } });

test("a blocked event is found as at the service: by the gate, the problem's code, or the gate's code", () => {
  const line = lineOfRequest("blocked", refused);
  for (const q of ["budget", "gate-budget", "cost-unknown"]) assert.ok(matches({ q }, line), q);
  // Of two that refused, the first one did.
  for (const q of ["loop", "gate-loop", "bud", "schema", "ok"]) assert.not(matches({ q }, line), q);
  assert.not(matches({ q: "gate-budget", status: "held" }, line));
});

test("an event admitted in observe mode is found by no gate", () => {
  const observed = request({ verdict: { decision: "allow", policy: null, gates, observed: true } });
  assert.not(matches({ q: "gate-budget" }, lineOfRequest("queued", observed)));
});

test("ids as they are, types by a part, both as they are written", () => {
  const line = lineOfRequest("queued", refused);
  const { event_id, delivery_key } = refused;
  for (const q of [event_id, delivery_key, "paid", "order.paid"]) assert.ok(matches({ q }, line), q);
  for (const q of [event_id.slice(0, -1), `${delivery_key}x`, "Paid"]) assert.not(matches({ q }, line), q);
});

test.run();
