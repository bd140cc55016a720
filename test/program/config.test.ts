import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { DatabaseSync } from "../../infra/sqlite/driver.ts";
import { sqliteEventLog } from "../../infra/sqlite/event-log.ts";
import { hookSource, signUp } from "../support/client.ts";
import { countersign } from "../support/command-line.ts";
import { startEventStoreDouble } from "../support/eventstore-double/server.ts";
import { write } from "../support/eventstore-double/state.ts";
import {
  killPrograms,
  removeFolder,
  runProgram,
  spawnProgram,
  startProgram,
  temporaryFolder,
  until,
} from "../support/program.ts";
import { receiver } from "../support/receiver.ts";

/** What the environment may say, and how the program ends. */
const test = suite("configuration and signals");
const EXIT_CONFIG = 2;
const COUNTERSIGN_KEY = Buffer.alloc(32, 1).toString("base64");
let dir: string;

test.before.each(() => {
  dir = temporaryFolder();
});
test.after.each(() => {
  killPrograms();
  removeFolder(dir);
});

/** One sentence that names what to change, and nothing of our insides. */
const refuses = async (env: Record<string, string>, says: RegExp, dataDir = dir): Promise<void> => {
  const { code, stdout, stderr } = await runProgram(env, dataDir);
  const shown = JSON.stringify({ env, code, stdout, stderr });
  assert.is(code, EXIT_CONFIG, shown);
  assert.is(stdout, "", shown);
  assert.match(stderr, says, shown);
  assert.match(stderr, /^\S[^\n]*\n$/, `one line: ${shown}`);
  assert.not.match(stderr, /\n\s+at |node:internal|\.ts:\d/, `no stack: ${shown}`);
};

const BAD: readonly (readonly [string, string, RegExp])[] = [
  ["PORT", "abc", /^PORT is "abc": it has to be a number/],
  ["PORT", "65536", /^PORT is "65536"/],
  ["PORT", "-1", /^PORT is "-1"/],
  ["HOST", "256.0.0.1", /^HOST 256\.0\.0\.1 and PORT 0 cannot be listened on/],
  ["HOST", "192.0.2.1", /^HOST 192\.0\.2\.1 and PORT 0 cannot be listened on/],
  ["PUBLIC_URL", "ftp://x", /^PUBLIC_URL is "ftp:\/\/x": it has to be an http or https address/],
  ["PUBLIC_URL", "hooks.example.com", /^PUBLIC_URL/],
  ["PUBLIC_URL", "https://user:word@example.com", /^PUBLIC_URL/],
  ["ROLES", "foo", /^ROLES names "foo": it takes some of api, projector/],
  ["ROLES", "api,API", /^ROLES names "API"/],
  ["DELIVERY_ALLOW_CIDRS", "1.2.3", /^DELIVERY_ALLOW_CIDRS names "1\.2\.3"/],
  ["DELIVERY_ALLOW_CIDRS", "10.0.0.0/33", /^DELIVERY_ALLOW_CIDRS/],
  ["DELIVERY_DNS", "mine", /^DELIVERY_DNS is "mine": it has to be one of direct, system\./],
  ["DELIVERY_DNS_SERVERS", "dns.example", /^DELIVERY_DNS_SERVERS names "dns\.example": it takes addresses/],
  ["DELIVERY_DNS_SERVERS", "10.0.0.2:99999", /^DELIVERY_DNS_SERVERS names/],
  ["UV_THREADPOOL_SIZE", "0", /^UV_THREADPOOL_SIZE is "0": it has to be a number from 1 to 1024\./],
  ["SIGNUP", "invited", /^SIGNUP is "invited": it has to be one of open, closed\./],
  ["SIGNUP_PLAN", "gold", /^SIGNUP_PLAN is "gold": it has to be one of free/],
  ["LOG_LEVEL", "loud", /^LOG_LEVEL is "loud"/],
  ["TRUST_PROXY", "maybe", /^TRUST_PROXY names "maybe"/],
  ["COUNTERSIGN_KEY", "not base64!", /^COUNTERSIGN_KEY must be 32 bytes in base64/],
  ["COUNTERSIGN_KEY", Buffer.alloc(16).toString("base64"), /^COUNTERSIGN_KEY must be 32 bytes/],
  ["EVENTSTORE_URL", "http://localhost:2113", /^EVENTSTORE_URL has to be like esdb:\/\//],
  ["EVENTSTORE_URL", "esdb://localhost:2113", /^COUNTERSIGN_KEY is required with EVENTSTORE_URL: 32 bytes in base64/],
  ["MONGODB_URL", "postgres://localhost/views", /^MONGODB_URL has to be like mongodb:\/\//],
  ["MONGODB_URL", "mongodb://127.0.0.1:1", /^The views at MONGODB_URL cannot be used: .*database/],
  ["MONGODB_URL", "mongodb://me:secret@127.0.0.1:1/views", /^The views at MONGODB_URL cannot be used: (?!.*secret)/],
  ["MONGODB_URL", "mongodb+srv:///views", /^The views at MONGODB_URL cannot be used: .*no host/],
  ["MONGODB_URL", "mongodb://127.0.0.1:1/a.b", /^The views at MONGODB_URL cannot be used: .*up to 63 letters/],
  ["MONGODB_URL", "mongodb://127.0.0.1:1/views?tls=true", /cannot be used: .*\(tls=false is for a server without\)/],
  ["MONGODB_URL", "mongodb://127.0.0.1:1/views?replicaSet=of", /cannot be used: .*replicaSet=of has to be the name/],
  ["KAFKA_BROKERS", "127.0.0.1:99999", /^KAFKA_BROKERS names "127\.0\.0\.1:99999": it takes host:port/],
  ["KAFKA_BROKERS", "localhost", /^KAFKA_BROKERS names "localhost": it takes host:port/],
  ["KAFKA_BROKERS", "127.0.0.1:1", /^The feed to KAFKA_BROKERS cannot be used: /],
  ["STRIPE_SECRET_KEY", "pk_live_1", /^STRIPE_SECRET_KEY has to be a secret or restricted key of Stripe(?!.*pk_live)/],
  [
    "STRIPE_SECRET_KEY",
    "sk_test_1",
    /^STRIPE_SECRET_KEY is set without STRIPE_WEBHOOK_SECRET, STRIPE_PRICE_STARTER, STRIPE_PRICE_CORE, STRIPE_PRICE_SCALE: set/,
  ],
];

const AT_ONCE = 4;

/** Each in a folder of its own: what is wrong is the values alone. */
const refusesAll = async (cases: readonly (readonly [Record<string, string>, RegExp])[]): Promise<void> => {
  const left = [...cases];
  const some = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [env, says] = next;
      await refuses(env, says, join(dir, `${left.length}`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
};

test("each value that cannot be used is one sentence that says what to change, and exit code 2", async () => {
  await refusesAll(BAD.map(([name, value, says]) => [{ [name]: value }, says]));
});

const STRIPE = {
  STRIPE_SECRET_KEY: "sk_test_1",
  STRIPE_WEBHOOK_SECRET: "whsec_1",
  STRIPE_PRICE_STARTER: "price_1",
  STRIPE_PRICE_CORE: "price_2",
  STRIPE_PRICE_SCALE: "price_3",
};

test("Stripe is configured as a whole, or not at all", async () => {
  await refusesAll([
    [{ ...STRIPE, STRIPE_PRICE_CORE: "" }, /^STRIPE_SECRET_KEY is set without STRIPE_PRICE_CORE: set what is missing/],
    [{ ...STRIPE, STRIPE_PRICE_CORE: "price_1" }, /name one price twice: each needs its own/],
    [{ ...STRIPE, STRIPE_METER_EVENT: "two words" }, /^STRIPE_METER_EVENT is "two words"/],
    [{ ...STRIPE, STRIPE_API_URL: "http://127.0.0.1:1/v1" }, /^STRIPE_API_URL has to be .* without a path/],
  ]);
});

test("an EventStoreDB that cannot be used is told what to do, without a word of what may be secret", async () => {
  const [plain, ahead, other] = await Promise.all([
    startEventStoreDouble(),
    startEventStoreDouble({ aheadMs: 60_000 }),
    startEventStoreDouble(),
  ]);
  const name = { type: "LogNamed", contentType: "application/json", metadata: new Uint8Array() };
  const data = new Uint8Array(Buffer.from('{"format":7}'));
  write(other.state, "countersign", [{ ...name, id: randomUUID(), data }]);
  const cases: readonly (readonly [string, RegExp])[] = [
    [
      "esdb://me:secret@127.0.0.1:1?tls=false&tlsVerifyCert=false",
      /at esdb:\/\/127\.0\.0\.1:1 cannot be used: nothing/,
    ],
    ["esdb://me:secret@127.0.0.1:1?tls=false&keepalive=1", /has an option keepalive, which there is not: it takes/],
    ["esdb://me:not@secret@127.0.0.1:1?tls=false", /percent-encoded: @ as %40/],
    [`esdb://127.0.0.1:${plain.port}`, /it speaks no TLS \(tls=false is for that\)/],
    [ahead.url, /clock is \d+\.\d s behind the server's, .*: set the clocks of both \(NTP\)/],
    [other.url, /has format 7, and this version reads format 6 alone: run the version that wrote it, or name a server/],
  ];
  await refusesAll(
    cases.map(([EVENTSTORE_URL, says]) => [
      { COUNTERSIGN_KEY, EVENTSTORE_URL },
      new RegExp(`^The event log at EVENTSTORE_URL cannot be used: (?!.*secret).*${says.source}`),
    ]),
  );
  await Promise.all([plain.stop(), ahead.stop(), other.stop()]);
});

test("an embedded log of another format is refused by the service, and by each command that opens a log", async () => {
  await (await startProgram({}, dir)).stop();
  const db = new DatabaseSync(join(dir, "log.db"));
  db.exec("PRAGMA user_version = 1");
  db.close();
  const says = /log\.db has format 1, and this version reads format 6 alone: run the version that wrote it, or move/;
  await refuses({}, says);
  const viewFiles = (): readonly string[] => readdirSync(dir).filter((name) => name.startsWith("views"));
  const before = viewFiles();
  const [here, there] = [`sqlite:${dir}`, `sqlite:${join(dir, "copy")}`];
  await (await sqliteEventLog({ path: join(dir, "copy", "log.db") })).close();
  const calls = [
    ["log", "verify", here],
    ["log", "copy", "--from", here, "--to", there],
    ["log", "copy", "--from", there, "--to", here],
    ["views", "rebuild"],
  ];
  await Promise.all(
    calls.map(async (args) => {
      const { status, stdout, stderr } = await countersign(args, { env: { DATA_DIR: dir } });
      assert.is(status, EXIT_CONFIG, `${args.join(" ")}: ${stderr}`);
      assert.is(stdout, "");
      assert.match(stderr, says);
      assert.match(stderr, /^\S[^\n]*\n$/);
    }),
  );
  assert.equal(viewFiles(), before);
});

test("a server at KAFKA_BROKERS with another protocol is named", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  // A server that listens on a port.
  const { port } = other.address() as AddressInfo;
  await refuses(
    { KAFKA_BROKERS: `127.0.0.1:${port}` },
    /^The feed to KAFKA_BROKERS .* is no Kafka: correct KAFKA_BROKERS/,
  );
  other.close();
});

test("a topic as none can be called is named", async () => {
  await refuses({ KAFKA_BROKERS: "127.0.0.1:1", KAFKA_TOPIC: "two words" }, /^KAFKA_TOPIC is "two words"/);
});

test("data that were begun with another key are refused, whatever the key file says", async () => {
  const [one, other] = [1, 2].map((byte) => ({ COUNTERSIGN_KEY: Buffer.alloc(32, byte).toString("base64") }));
  await (await startProgram(one, dir)).stop();
  await refuses({ ...other }, /^The keys in the event log are sealed under another COUNTERSIGN_KEY/);
  await (await startProgram(one, dir)).stop();
});

test("a port that is in use is named, and nothing is made for a service that cannot listen", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  // A server that listens on a port.
  const { port } = other.address() as AddressInfo;
  const says = new RegExp(`^HOST 127\\.0\\.0\\.1 and PORT ${port} cannot be listened on: another program does\\.`);
  await refuses({ PORT: String(port) }, says);
  const unmade = join(dir, "unmade");
  await refuses({ PORT: String(port) }, says, unmade);
  assert.not(existsSync(unmade), "a first start that cannot listen makes no folder");
  other.close();
});

test("a data directory that is a file, or lies in one, is named", async () => {
  const file = join(dir, "file");
  writeFileSync(file, "not a folder");
  await refuses({}, /^DATA_DIR \S+\/file has to be a folder that this user can read and write: /, file);
  await refuses({}, /^DATA_DIR \/proc\/none has to be a folder .*: ENOENT/, "/proc/none");
  await refuses(
    {},
    /^DATA_DIR \S+\/file\/data has to be a folder that this user can read and write: /,
    join(file, "data"),
  );
});

test("data whose key is gone, a key that others can read and a key that is none are refused", async () => {
  const data = join(dir, "data");
  mkdirSync(data);
  writeFileSync(join(data, "key"), "short", { mode: 0o600 });
  await refuses({}, /^The key file \S+ must be 32 bytes in base64/, data);
  writeFileSync(join(dir, "key"), `${Buffer.alloc(32).toString("base64")}\n`, { mode: 0o644 });
  await refuses({}, /^The key file \S+ has mode 644, others can read it: run "chmod 600/);
  const program = await startProgram({}, join(dir, "whole"));
  await program.stop();
  removeFolder(join(program.dir, "key"));
  await refuses({}, /^The key file \S+ is missing/, program.dir);
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`${signal}, also more than once: what is in flight is answered and recorded, then the exit code is 0`, async () => {
    const [program, target] = await Promise.all([startProgram({}, dir), receiver()]);
    const client = await signUp(program.url);
    const app = await client.make("/v1/endpoints", { name: "app", url: target.url });
    const source = await hookSource(client, { endpoint_id: app.id });
    let finish = (): void => assert.unreachable("nothing was under way");
    target.answer((_arrival, response) => {
      finish = () => response.end("done");
    });
    const sent = await source.send("in-flight");
    await until("the receiver works on it", () => target.arrivals.length === 1);
    const stopped = program.stop(signal);
    await until("nothing new is accepted", async () => {
      const refused = await fetch(`${program.url}/health`).catch(() => null);
      return refused === null;
    });
    process.kill(program.pid, signal);
    finish();
    assert.is(await stopped, 0);
    assert.is(program.output().split("\n").length, 2, program.output());

    const again = await startProgram({}, dir);
    const { body } = await client.at(again.url).call("GET", `/v1/events/${sent.body.event_id}`);
    assert.is(body.status, "delivered");
    assert.is(target.arrivals.length, 1);
    await again.stop();
    await target.close();
  });
}

test("a program that is stopped while its engines do not answer ends by itself", async () => {
  const double = await startEventStoreDouble();
  double.freeze();
  const child = spawnProgram({ COUNTERSIGN_KEY, EVENTSTORE_URL: double.url }, dir);
  const ended = once(child, "close");
  await until("it asks the log", () => double.open() > 0);
  child.kill("SIGTERM");
  await ended;
  // By the default of the system it would have no code: and the first process of a container not even that.
  assert.equal([child.exitCode, child.signalCode], [0, null]);
  await double.stop();
});

/** Tells the process to stop as soon as anything in it listens for that. */
const STOP_AT_ONCE = `let told = false; process.on("newListener", (name) => {
  if (name !== "SIGTERM" || told) return;
  told = true; process.nextTick(() => process.kill(process.pid, "SIGTERM"));
});`;

test("a program that is stopped while it is loading ends before it opens anything", async () => {
  const preload = `--import data:text/javascript,${encodeURIComponent(STOP_AT_ONCE)}`;
  assert.equal(await runProgram({ NODE_OPTIONS: preload }, dir), { code: 0, stdout: "", stderr: "" });
  assert.equal(readdirSync(dir), []);
});

test("a second process on the same data directory is refused, even after crashes of the first", async () => {
  const first = await startProgram({ NODE_OPTIONS: "--max-old-space-size=128" }, dir);
  await refuses({}, /^Another process answers requests on DATA_DIR \S+ already: stop it, or set ROLES\.$/m);
  const client = await signUp(first.url);
  const source = await hookSource(client);
  // Enough work that the collector has been through everything.
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(Array.from({ length: 50 }, (_, n) => source.send(`${round}-${n}`)));
  }
  await refuses({}, /^Another process answers requests/);
  assert.is((await source.send("still there")).status, 202);
  await first.kill();
  const next = await startProgram({}, dir);
  assert.is(await next.stop(), 0);
});

test("one process takes webhooks, another delivers them and a third shows them, on one data directory", async () => {
  const [api, target] = await Promise.all([startProgram({ ROLES: "api" }, dir), receiver()]);
  const others = [];
  for (const ROLES of ["projector", "deliverer"]) others.push(await startProgram({ ROLES }, dir));
  await refuses({ ROLES: "deliverer" }, /^Another process delivers on DATA_DIR/);
  const client = await signUp(api.url);
  const app = await client.make("/v1/endpoints", { name: "app", url: target.url });
  const source = await hookSource(client, { endpoint_id: app.id });
  const sent = await source.send("divided");
  assert.is(sent.status, 202);
  await until("the views say that it was delivered", async () => {
    const { body } = await client.call("GET", `/v1/events/${sent.body.event_id}`);
    return body.status === "delivered";
  });
  assert.equal([...target.counts()], [[sent.body.event_id, 1]]);
  for (const program of [...others, api]) assert.is(await program.stop(), 0, program.output());
  await target.close();
});

test.run();
