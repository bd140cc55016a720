import { suite } from "uvu";
import * as assert from "uvu/assert";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { secretBox } from "../../../infra/crypto/secret-box.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { type Command, Idempotency, type KeyedRequest } from "../../../src/http/idempotency.ts";
import type { SentAnswer } from "../../../src/http/sent-answer.ts";
import type { Envelope } from "../../../src/streams/envelope.ts";
import { type Problem, problem } from "../../../src/streams/problems.ts";
import { type TestClock, testClock } from "../../support/http-app.ts";

const ok = (body: string, status = 201): SentAnswer => ({
  status,
  headers: { "content-type": "application/json" },
  body,
});

const envelope = (clock: TestClock, account = "acc_a", id = "key_1"): Envelope => ({
  commandId: "",
  account,
  actor: { kind: "key", id },
  trace: { trace_id: "1".repeat(32), span_id: "2".repeat(16) },
  at: new Date(clock.now()).toISOString(),
});

const setUp = () => {
  const log = memoryEventLog();
  const clock = testClock();
  const lost: unknown[] = [];
  const limited = (node: string, othersAreGone = false): Idempotency =>
    new Idempotency({
      log,
      box: secretBox(Buffer.alloc(32, 7), randomness),
      clock,
      randomness,
      digestKey: Buffer.alloc(32, 8),
      node,
      othersAreGone,
      onLost: (error) => lost.push(error),
    });
  /** A process in which nothing limits the account's changes. */
  const process = (node: string, othersAreGone = false) => ({
    async run(request: KeyedRequest, work: (command: Command) => Promise<SentAnswer>) {
      const answered = await limited(node, othersAreGone).run(request, async () => "counted", work);
      if (answered === null) throw new Error("the allowance is not used up");
      return answered;
    },
  });
  const request = (over: Partial<KeyedRequest> = {}): KeyedRequest => ({
    key: "k",
    method: "POST",
    url: "/v1/things",
    body: { name: "a" },
    envelope: envelope(clock),
    ...over,
  });
  return { log, clock, lost, limited, process, request };
};

/** Name and seed: the ids and the secrets that a command makes are those of both. */
const nameOf = ({ commandId, seed }: Command): string => `${commandId} ${Buffer.from(seed).toString("hex")}`;
const problemOf = (it: SentAnswer | Problem) => ("problem" in it ? it.problem : "answered");
const never = async (): Promise<SentAnswer> => {
  throw new Error("ran again");
};

const test = suite("idempotency");

test("a repeat gets the first answer, byte for byte and marked, and nothing runs", async () => {
  const { process, request } = setUp();
  const first = await process("n1").run(request(), async () => ok('{"id":1}'));
  assert.equal(first, ok('{"id":1}'));
  const again = await process("n2").run(request(), never);
  const { headers } = ok("");
  assert.equal(again, { ...ok('{"id":1}'), headers: { ...headers, "idempotent-replayed": "true" } });
});

test("bytes and empty bodies come back as they were", async () => {
  const { process, request } = setUp();
  const node = process("n");
  await node.run(request({ key: "bytes" }), async () => ({
    status: 200,
    headers: {},
    body: Uint8Array.of(0, 255, 10),
  }));
  await node.run(request({ key: "empty" }), async () => ({ status: 204, headers: {}, body: null }));
  const bytes = await node.run(request({ key: "bytes" }), never);
  assert.ok("body" in bytes && bytes.body instanceof Uint8Array);
  assert.equal([...bytes.body], [0, 255, 10]);
  const empty = await node.run(request({ key: "empty" }), never);
  assert.ok("body" in empty && empty.body === null && empty.status === 204);
});

test("a refusal is an answer as well", async () => {
  const { process, request } = setUp();
  await process("n").run(request(), async () => ok("{}", 422));
  const again = await process("n").run(request(), never);
  assert.is("status" in again && again.status, 422);
});

test("the key with another body, path or method is refused", async () => {
  const { process, request } = setUp();
  const node = process("n");
  await node.run(request(), async () => ok("{}"));
  for (const other of [{ body: { name: "b" } }, { body: undefined }, { url: "/v1/others" }, { method: "PUT" }])
    assert.is(problemOf(await node.run(request(other), never)), "idempotency-key-reused");
});

test("another principal or another account has its own keys", async () => {
  const { clock, process, request } = setUp();
  const node = process("n");
  await node.run(request(), async () => ok("1"));
  const others = [envelope(clock, "acc_b"), envelope(clock, "acc_a", "key_2")];
  for (const other of others) {
    const answer = await node.run(request({ envelope: other }), async () => ok("2"));
    assert.is("body" in answer && answer.body, "2");
  }
});

test("one of fifty simultaneous requests runs, and the others get in-progress", async () => {
  const { process, request } = setUp();
  const nodes = [process("n1"), process("n2")];
  let ran = 0;
  const work = async () => {
    ran += 1;
    await new Promise((resolve) => setImmediate(resolve));
    return ok("{}");
  };
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => (nodes[index % 2] ?? process("n")).run(request(), work)),
  );
  assert.is(ran, 1);
  const kinds = answers.map(problemOf);
  assert.is(kinds.filter((kind) => kind === "in-progress").length, 49);
});

test("the claim of a dead process is taken over after a minute, under the same command id and seed", async () => {
  const { clock, process, request } = setUp();
  const ids: string[] = [];
  const dying = process("n1").run(request(), (command) => {
    ids.push(nameOf(command));
    return new Promise<SentAnswer>(() => undefined);
  });
  assert.is(await Promise.race([dying, new Promise((resolve) => setImmediate(resolve, "hangs"))]), "hangs");
  clock.advance(59_999);
  assert.is(problemOf(await process("n2").run(request(), never)), "in-progress");
  clock.advance(1);
  await process("n2").run(request(), async (command) => {
    ids.push(nameOf(command));
    return ok("{}");
  });
  assert.is(ids.length, 2);
  assert.is(ids[0], ids[1]);
});

test("a process that is alone takes over the claim of one before it at once, and never its own", async () => {
  const { process, request } = setUp();
  const ids: string[] = [];
  const hanging = (command: Command) => {
    ids.push(nameOf(command));
    return new Promise<SentAnswer>(() => undefined);
  };
  const untilRunning = () => new Promise((resolve) => setImmediate(resolve));
  void process("n1").run(request(), hanging);
  await untilRunning();
  assert.is(problemOf(await process("n2").run(request(), never)), "in-progress");
  const alone = process("n2", true);
  void alone.run(request(), hanging);
  await untilRunning();
  assert.is(ids.length, 2);
  assert.is(ids[0], ids[1]);
  assert.is(problemOf(await alone.run(request(), never)), "in-progress");
});

test("a slow request still answers, and the request that took its claim over stores the answer", async () => {
  const { clock, process, request, lost } = setUp();
  let finish: (wire: SentAnswer) => void = () => undefined;
  const slow = process("n1").run(request(), () => new Promise<SentAnswer>((resolve) => (finish = resolve)));
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(60_000);
  await process("n2").run(request(), async () => ok("second"));
  finish(ok("first"));
  const answer = await slow;
  assert.is("body" in answer && answer.body, "first");
  const again = await process("n3").run(request(), never);
  assert.is("body" in again && again.body, "second");
  assert.equal(lost, []);
});

test("failures and temporary refusals are not stored, and the next try has the same command id and seed", async () => {
  const { process, request } = setUp();
  const node = process("n");
  const ids: string[] = [];
  for (const status of [500, 503, 429]) {
    await node.run(request(), async (command) => {
      ids.push(nameOf(command));
      return ok("{}", status);
    });
  }
  await assertThrows(() =>
    node.run(request(), async (command) => {
      ids.push(nameOf(command));
      throw new Error("broken");
    }),
  );
  assert.is(problemOf(await node.run(request({ body: "other" }), never)), "idempotency-key-reused");
  await node.run(request(), async (command) => {
    ids.push(nameOf(command));
    return ok("{}");
  });
  assert.is(new Set(ids).size, 1);
  assert.is(ids.length, 5);
});

test("after seven days the key is a new one, with a new command id and seed", async () => {
  const { clock, process, request } = setUp();
  const node = process("n");
  const ids: string[] = [];
  const work = async (command: Command) => {
    ids.push(nameOf(command));
    return ok("{}");
  };
  await node.run(request(), work);
  clock.advance(7 * 24 * 3_600_000 - 1);
  await node.run(request(), never);
  clock.advance(1);
  await node.run(request({ body: "other" }), work);
  assert.is(new Set(ids).size, 2);
});

test("nothing of an answer stands in the log in the open", async () => {
  const { log, process, request } = setUp();
  await process("n").run(request(), async () => ({ ...ok('{"key":"csk_hunter2"}'), headers: { "x-a": "hunter3" } }));
  const text = JSON.stringify(await log.readAll(null, 100));
  assert.ok(text.includes("RequestAnswered") && text.includes('"stream":"payload-idem_'));
  assert.not.match(text, /hunter/);
});

test("an answer that cannot be stored is sent nevertheless", async () => {
  const { log, process, request, lost } = setUp();
  const answer = await process("n").run(request(), async () => {
    await log.close();
    return ok("{}");
  });
  assert.is("status" in answer && answer.status, 201);
  assert.is(lost.length, 1);
});

const assertThrows = async (run: () => Promise<unknown>): Promise<void> => {
  try {
    await run();
  } catch {
    return;
  }
  assert.unreachable("should have thrown");
};

test("a stored answer is given although the account may change nothing more, and nothing else runs or is stored", async () => {
  const { log, limited, request } = setUp();
  const answers = limited("n1");
  await answers.run(
    request(),
    async () => "counted",
    async () => ok('{"id":1}'),
  );
  const refuse = async () => problem("rate-limited", "used up");
  const again = await answers.run(request(), refuse, never);
  assert.is(again !== null && "body" in again && again.body, '{"id":1}');
  const other = request({ key: "other" });
  const refused = await answers.run(other, refuse, never);
  assert.is(refused !== null && problemOf(refused), "rate-limited");
  const stored = (await log.readAll(null, 100)).length;
  assert.is(await answers.run(other, async () => "beyond", never), null);
  assert.is((await log.readAll(null, 100)).length, stored);
});

test.run();
