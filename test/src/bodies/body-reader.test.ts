import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Clock } from "../../../domain/ports/clock.ts";
import {
  type AnyOrder,
  type BodyReader,
  type BodyThread,
  bodyThread,
  directBodyReader,
  READ_BYTES_PER_S,
  sharedBodyReader,
  UNDER_WAY_MAX,
} from "../../../src/bodies/body-reader.ts";
import type { Principal } from "../../../src/http/route.ts";
import { approvalsWorld, person } from "../../support/approvals-world.ts";
import { SAME_ORIGIN, testApp, testClock } from "../../support/http-app.ts";

const test = suite("reading large documents");

const members = (count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, `v${index}`]));
const LARGE = JSON.stringify({ amount: 120, card: members(10_000), note: "\u202e" });
const SMALL = '{"amount":120,"card":"4111"}';

/** A thread that is none: it keeps what it is sent until it is told to answer. */
const heldThread = () => {
  const orders: { readonly account: string; readonly order: AnyOrder; readonly answer: () => void }[] = [];
  const thread: Pick<BodyThread, "run"> = {
    run: (account, order) =>
      new Promise((resolve) => {
        orders.push({ account, order, answer: () => resolve({ answer: null }) });
      }),
  };
  return { thread, orders };
};
const textOrder = (bytes: number) => ({ body: Buffer.alloc(bytes, " "), hidden: [["a"]] });

/** Approvals over HTTP, with documents read by a real thread whose orders are counted. */
const started = async () => {
  const thread = bodyThread();
  const names: string[] = [];
  const counted: Pick<BodyThread, "run"> = {
    run(account, order) {
      names.push(order.name);
      return thread.run(account, order);
    },
  };
  const world = approvalsWorld({ bodyReader: (clock: Clock): BodyReader => sharedBodyReader(counted, clock) });
  const people = new Map<string, Principal>([
    ["approver", person("mem_ana")],
    ["admin", person("mem_adm", "admin")],
  ]);
  for (const who of people.values()) await world.join(who);
  const { log, clock, routes } = world;
  const app = await testApp(routes, { log, clock, authenticate: async ({ token }) => people.get(token) ?? null });
  const call = async (who: string, method: "GET" | "POST", path: string, payload?: object) => {
    const headers = { cookie: `__Host-session=${who}`, ...SAME_ORIGIN };
    const sent = payload === undefined ? {} : { payload };
    return app.inject({ method, url: `/v1/approvals${path}`, headers, ...sent });
  };
  const close = async (): Promise<void> => {
    await app.close();
    await thread.stop();
  };
  return { ...world, names, call, close };
};

test("the other thread shows an approval with a large payload as this one would", async () => {
  const { asked, call, names, close } = await started();
  const { approvalId, digest } = await asked(1, { body: LARGE, rule: { min_approvals: 2, reveal: ["approver"] } });
  const redacted = await call("approver", "GET", `/${approvalId}`);
  assert.is(redacted.headers["content-type"], "application/json; charset=utf-8");
  const { payload, hidden, redacted: isRedacted, shown_digest } = redacted.json();
  assert.equal([payload, hidden, isRedacted], [{ amount: 120, card: "[redacted]", note: "\u202e" }, ["/card"], true]);
  const full = (await call("admin", "GET", `/${approvalId}`)).json();
  assert.equal(full.payload, JSON.parse(LARGE));
  assert.is.not(full.shown_digest, shown_digest);
  assert.equal(names, ["content", "content"]);
  const revealed = await call("approver", "POST", `/${approvalId}/reveal`, {});
  assert.equal(revealed.json().payload, JSON.parse(LARGE));
  // The digest of a form that another thread has made is the one that a vote has to name.
  const voted = await call("approver", "POST", `/${approvalId}/approve`, { digest, shown_digest });
  assert.equal([voted.statusCode, voted.json().votes[0].shown.form], [200, "redacted"]);
  assert.is(new Set(names).size, 1);
  await close();
});

test("a small payload is shown without the other thread", async () => {
  const { asked, call, names, close } = await started();
  const { approvalId } = await asked(1, { body: SMALL });
  assert.equal((await call("approver", "GET", `/${approvalId}`)).json().payload, { amount: 120, card: "[redacted]" });
  assert.equal(names, []);
  await close();
});

test("an account that reads many large payloads is rate-limited, and still sees small ones", async () => {
  const { asked, call, clock, names, close } = await started();
  const body = JSON.stringify({ amount: 120, t: "a".repeat(900_000) });
  const { approvalId } = await asked(1, { body });
  const other = await asked(2, { body: SMALL });
  const statuses: number[] = [];
  // The clock stands still, so the budget is that of one second, and the last read may go beyond it.
  for (let read = 0; read < 10; read += 1) statuses.push((await call("admin", "GET", `/${approvalId}`)).statusCode);
  const shown = Math.ceil(READ_BYTES_PER_S / body.length);
  assert.equal(statuses, [...Array(shown).fill(200), ...Array(10 - shown).fill(429)]);
  assert.is(names.length, shown);
  const refused = await call("admin", "GET", `/${approvalId}`);
  assert.equal([refused.json().code, refused.headers["retry-after"]], ["rate-limited", "2"]);
  assert.is((await call("admin", "GET", `/${other.approvalId}`)).statusCode, 200);
  clock.advance(2_000);
  assert.is((await call("admin", "GET", `/${approvalId}`)).statusCode, 200);
  await close();
});

test("the result of a vote is shown even if the account has used up its rate", async () => {
  const { asked, call, names, close } = await started();
  const body = JSON.stringify({ amount: 120, t: "a".repeat(900_000) });
  const { approvalId, digest } = await asked(1, { body });
  while ((await call("admin", "GET", `/${approvalId}`)).statusCode === 200);
  const before = names.length;
  const voted = await call("approver", "POST", `/${approvalId}/reject`, { digest, comment: "no" });
  assert.equal([voted.statusCode, voted.json().status], [200, "rejected"]);
  assert.is(names.length, before + 1);
  await close();
});

test("an account's simultaneous reads are limited, and delay no other account", async () => {
  const { thread, orders } = heldThread();
  const bodyReader = sharedBodyReader(thread, testClock());
  const order = textOrder(40_000);
  const reads: Promise<unknown>[] = [];
  for (let read = 0; read < UNDER_WAY_MAX; read += 1) {
    assert.is(bodyReader.busy("loud", "text", order), null);
    reads.push(bodyReader.run("loud", "text", order));
  }
  assert.is(bodyReader.busy("loud", "text", order)?.problem, "rate-limited");
  assert.is(bodyReader.busy("loud", "text", textOrder(1_000)), null);
  assert.is(bodyReader.busy("quiet", "text", order), null);
  for (const { answer } of orders) answer();
  await Promise.all(reads);
  assert.is(bodyReader.busy("loud", "text", order), null);
});

test("a target's answer counts for more than its bytes, because it is searched for hidden values", async () => {
  const { thread, orders } = heldThread();
  const bodyReader = sharedBodyReader(thread, testClock());
  const kept = { encoding: "text", body: "a".repeat(8_000), truncated: false, headers: {}, request_headers: {} };
  const response = { ...kept, event_id: "evt_1", number: 1 };
  const hiding = { paths: [["card"]], payload: Buffer.from(SMALL) };
  const order = { attempts: [], responses: new Map([[1, response as never]]), hiding };
  void bodyReader.run("acc", "attempts", order);
  assert.equal(
    orders.map(({ order: { name } }) => name),
    ["attempts"],
  );
  // An admin sees the answer as it came.
  assert.equal(await bodyReader.run("acc", "attempts", { ...order, hiding: null }), []);
  assert.is(orders.length, 1);
});

test("the thread answers each task as the direct way does", async () => {
  const thread = bodyThread();
  const shared = sharedBodyReader(thread, testClock());
  const body = Buffer.from(LARGE);
  const text = { body, hidden: [["card"]] };
  const [far, near] = [await shared.run("acc", "text", text), await directBodyReader.run("acc", "text", text)];
  assert.is(Buffer.from(far ?? []).toString(), Buffer.from(near ?? []).toString());
  const none = { body: Buffer.from("x".repeat(50_000)), hidden: [["card"]] };
  assert.is(await shared.run("acc", "text", none), null);
  const hiding = { paths: [["card"]], payload: body };
  const results = { results: [null, { status_code: 200, body: { card: "v1", other: "x" } }], hidings: [null, hiding] };
  assert.equal(await shared.run("acc", "results", results), await directBodyReader.run("acc", "results", results));
  const steps = Buffer.from(JSON.stringify([{ a: 1 }, { t: "a".repeat(50_000), b: { $result: { step: 0 } } }]));
  const places = { body: steps, uses: [false, true] };
  assert.equal(await shared.run("acc", "places", places), await directBodyReader.run("acc", "places", places));
  await thread.stop();
});

test.run();
