import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ran, type ScriptedService, scriptedService, sendJson } from "../../support/scripted-service.ts";

const test = suite("countersign replay");
const ID = `rpl_${"a".repeat(32)}`;
const EVENT = `evt_${"b".repeat(32)}`;
const PLAN = {
  count: 3,
  waiting_at: [{ endpoint_id: "end_1", reason: "circuit-open", count: 1 }],
  skipped: [{ reason: "bundle-step", count: 2 }],
  oldest: "2026-03-01T12:00:00.000Z",
  newest: "2026-03-01T12:00:09.000Z",
  endpoints: [],
  estimated_s: 1,
};

let service: ScriptedService;
test.before(async () => {
  service = await scriptedService();
});
test.after(() => service.close());

const screenOf = (answer: boolean) => {
  const drawn: string[] = [];
  const questions: string[] = [];
  return {
    drawn,
    questions,
    screen: {
      columns: 100,
      draw: (line: string) => void drawn.push(line),
      ask: async (question: string) => {
        questions.push(question);
        return answer;
      },
    },
  };
};
const env = () => ({ COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: "csk_a" });

/** Plans, starts, and shows the states in turn, the last one for ever. */
const replaying = (...states: readonly object[]): void => {
  let shown = 0;
  service.answer(({ url = "" }, response, body) => {
    if (url === "/v1/replays" && body.includes('"dry_run":true')) return sendJson(response, 200, PLAN);
    if (url === "/v1/replays")
      return sendJson(response, 202, { id: ID, status: "running", total: 3 }, { "countersign-position": "7" });
    shown += 1;
    return sendJson(response, 200, { id: ID, total: 3, ...states[Math.min(shown, states.length) - 1] });
  });
};
const state = (status: string, done: number, delivered: number, failed = 0, skipped = 0) => ({
  status,
  done,
  delivered,
  failed,
  skipped,
});
const started = (): boolean =>
  service.asked.some(({ call, body }) => call === "POST /v1/replays" && !body.includes("dry_run"));

test("a person is asked after the plan, and a no replays nothing", async () => {
  replaying();
  const { screen, questions } = screenOf(false);
  const { status, note, out } = await ran(["replay", "--status", "failed"], env(), { screen });
  assert.equal([status, out], [1, ""]);
  assert.equal(questions, ["Replay 3 events?"]);
  assert.match(
    note,
    "3 events, received 2026-03-01 12:00:00Z to 2026-03-01 12:00:09Z\n  1 wait at end_1: circuit-open\n  2 are skipped: bundle-step\nabout 1 s",
  );
  assert.not(started());
});

test("a yes starts it, the bar fills, and the end is one line", async () => {
  replaying(state("running", 1, 1), state("done", 3, 2, 0, 1));
  const { screen, drawn } = screenOf(true);
  const args = [
    "replay",
    "--status",
    "blocked",
    "--source",
    "src_1",
    "--from",
    "2026-03-01",
    "--rate",
    "5",
    "--reason",
    "mended",
  ];
  const { status, out, note } = await ran(args, env(), { screen });
  assert.equal([status, out], [0, `${ID} is done: 3 of 3: 2 delivered, 0 failed, 1 skipped`]);
  assert.match(note, `countersign replay cancel ${ID}`);
  assert.match(drawn[0] ?? "", "33 %  1 of 3  1 delivered, 0 failed, 0 skipped");
  assert.is(drawn.at(-1), "");
  const asked = service.asked.find(({ call, body }) => call === "POST /v1/replays" && !body.includes("dry_run"));
  assert.equal(JSON.parse(asked?.body ?? ""), {
    filter: { status: "blocked", source_id: "src_1", from: "2026-03-01T00:00:00.000Z" },
    rate_per_second: 5,
    reason: "mended",
  });
  assert.ok(asked?.headers["idempotency-key"]);
  assert.ok(service.asked.some(({ call }) => call === `GET /v1/replays/${ID}?after=7`));
});

test("--yes asks no question; events that failed again and a cancelled replay end with exit code 1", async () => {
  for (const last of [state("done", 3, 2, 1), state("cancelled", 1, 1)]) {
    replaying(last);
    const { screen, questions } = screenOf(false);
    const { status, out } = await ran(["replay", "--status", "failed", "--yes"], env(), { screen });
    assert.is(status, 1, out);
    assert.equal(questions, []);
  }
});

test("a watcher goes on while the service is away for a moment", async () => {
  let calls = 0;
  service.answer((_, response) => {
    calls += 1;
    if (calls === 1) return response.destroy();
    if (calls === 2) return sendJson(response, 503, { detail: "closing" });
    return sendJson(response, 200, { id: ID, total: 3, ...state("done", 3, 3) });
  });
  const { status, out } = await ran(["replay", ID, "--json"], env());
  assert.is(status, 0);
  assert.is(JSON.parse(out).delivered, 3);
  assert.is(calls, 3);
});

test("a refusal is the service's sentence; one that passes is waited for, under the same key", async () => {
  service.answer((_, response) => sendJson(response, 409, { code: "already-delivered", detail: "It is delivered." }));
  const refused = await ran(["replay", EVENT], env());
  assert.equal([refused.status, refused.out, refused.note], [1, "", "It is delivered."]);
  let calls = 0;
  service.answer((_, response) => {
    calls += 1;
    if (calls === 1) return sendJson(response, 429, { detail: "later" }, { "retry-after": "0" });
    return sendJson(response, 202, { event_id: EVENT, replay_id: ID });
  });
  const { status, out } = await ran(["replay", EVENT, "--detach"], env());
  assert.equal([status, out], [0, `${EVENT} is replayed as ${ID}`]);
  const keys = service.asked.map(({ headers }) => headers["idempotency-key"]);
  assert.is(keys.length, 2);
  assert.is(keys[0], keys[1]);
});

test.run();
