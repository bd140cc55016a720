import { suite } from "uvu";
import * as assert from "uvu/assert";
import { allowed, denied } from "../../../domain/gate/verdict.ts";
import { lineOfRequest, shownLine } from "../../../src/cli/event-line.ts";
import { matches } from "../../../src/cli/events-tail.ts";
import { request } from "../../support/history.ts";
import { ran, scriptedService, sendJson } from "../../support/scripted-service.ts";

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

test("the line of a sample says so", () => {
  const sample = { by: { kind: "key", id: "key_1" } } as const;
  assert.match(shownLine(lineOfRequest("queued", request({ sample }))).text, /\) {2}sample$/);
  assert.not.match(shownLine(lineOfRequest("queued", request())).text, /sample/);
});

const idOf = (letter: string): string => `evt_${letter.repeat(32)}`;

/** An event as the list shows it. */
const summary = (id: string, status: string, attempt_count: number) => ({
  ...{ id, status, attempt_count, type: "order.paid", received_at: "2026-03-01T12:00:00.000Z", endpoint_id: "end_1" },
  ...{ delivery_id: "k", failure: null, verdict: { decision: "allow", policy: null, gates: [] } },
  origin: { kind: "source", id: "src_1", name: "shop", type: "stripe" },
});

type Told = readonly [type: string, id: string, data?: Record<string, unknown>];

/** The lines of `events tail --follow`, where the list shows `listed` and the stream then tells `told`. */
const followed = async (listed: readonly unknown[], told: readonly Told[]) => {
  const service = await scriptedService();
  const lists: string[] = [];
  // A record of an event that the command has to ask for. The answer says that its key does not hold any more.
  const last: Told = ["EventDelivered", idOf("z")];
  service.answer(({ url = "" }, response) => {
    if (url.startsWith("/v1/audit/stream")) {
      response.writeHead(200, { "content-type": "text/event-stream", "countersign-position": "abcd-7" });
      response.write("retry: 3000\nid: start\n\n");
      for (const [index, [type, id, data = {}]] of [...told, last].entries()) {
        const about = { type: `io.countersign.${type}.v1`, subject: `delivery-${id}`, position: `abcd-${8 + index}` };
        response.write(
          `id: ${index}-x\ndata: ${JSON.stringify({ ...about, time: "2026-03-01T12:00:01.000Z", data })}\n\n`,
        );
      }
    } else if (url.startsWith("/v1/events?")) {
      lists.push(url);
      if (lists.length > 1) sendJson(response, 200, { data: listed, next_cursor: null });
      else sendJson(response, 503, { code: "view-behind" }, { "retry-after": "0" });
    } else response.writeHead(401).end();
  });
  try {
    const env = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: "csk_a" };
    const { status, out } = await ran(["events", "tail", "--follow", "--json"], env);
    assert.is(status, 1);
    const lines = out.split("\n").filter((line) => line !== "");
    const shown = lines.map((line) => JSON.parse(line)).map(({ id, status }) => `${id.slice(4, 5)} ${status}`);
    return { lists, lines: shown };
  } finally {
    service.close();
  }
};

const admission = (id: string) => request({ event_id: id });

test("the list is read when the view shows all that was before the stream, and asked for until it does", async () => {
  const { lists } = await followed([], []);
  assert.equal(lists, ["/v1/events?after=abcd-7&limit=20", "/v1/events?after=abcd-7&limit=20"]);
});

test("what the list shows already is printed once, and what came after it is printed as well", async () => {
  const [a, b, c, d] = [idOf("a"), idOf("b"), idOf("c"), idOf("d")];
  const failure = { kind: "timeout", detail: "" };
  const failed = (number: number, next: string | null) => ({ number, failure, next_attempt_at: next });
  const later = "2026-03-01T12:00:05.000Z";
  const { lines } = await followed(
    [summary(c, "retrying", 1), summary(b, "failed", 2), summary(a, "delivered", 1)],
    [
      ["EventAdmitted", a, admission(a)],
      ["AttemptStarted", a, { number: 1 }],
      ["EventDelivered", a],
      ["AttemptFailed", b, failed(1, later)],
      ["AttemptFailed", b, failed(2, null)],
      ["DeliveryFailed", b, { failure }],
      ["EventReplayed", b],
      ["AttemptStarted", b, { number: 3 }],
      ["AttemptFailed", b, failed(3, null)],
      ["DeliveryFailed", b, { failure }],
      ["AttemptFailed", c, failed(1, later)],
      ["AttemptStarted", c, { number: 2 }],
      ["AttemptFailed", c, failed(2, later)],
      ["EventAdmitted", d, admission(d)],
    ],
  );
  assert.equal(lines, ["a delivered", "b failed", "c retrying", "b retrying", "b failed", "c retrying", "d queued"]);
});

test("an attempt that the list shows under way ends in the stream", async () => {
  const a = idOf("a");
  const { lines } = await followed(
    [summary(a, "delivering", 1)],
    [
      ["EventAdmitted", a, admission(a)],
      ["AttemptStarted", a, { number: 1 }],
      [
        "AttemptFailed",
        a,
        { number: 1, failure: { kind: "timeout", detail: "" }, next_attempt_at: "2026-03-01T12:00:05.000Z" },
      ],
    ],
  );
  assert.equal(lines, ["a delivering", "a retrying"]);
});

test.run();
