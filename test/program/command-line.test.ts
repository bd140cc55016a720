import { createHmac } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Client, hookSource, signUp } from "../support/client.ts";
import { countersign, type Ended } from "../support/command-line.ts";
import { type EngineSet, type Engines, engineSets } from "../support/engine-sets.ts";
import { type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";
import { runningCommand } from "../support/running-command.ts";

/** The commands of people and scripts, as processes of their own, against the whole program. */
const commandLine = ({ name, open }: EngineSet): void => {
  const test = suite(`the command line: ${name}`);
  let engines: Engines;
  let program: Program;
  let target: Receiver;

  test.before(async () => {
    engines = await open();
    [program, target] = await Promise.all([startProgram(engines.env), receiver()]);
  });
  test.after(async () => {
    await program.stop();
    await target.close();
    removeFolder(program.dir);
    await engines.close();
  });
  test.before.each(() => {
    target.answer((_, response) => response.end("ok"));
  });

  const envOf = (client: Client) => ({ COUNTERSIGN_URL: program.url, COUNTERSIGN_API_KEY: client.key });
  const called = (client: Client, ...args: string[]): Promise<Ended> => countersign(args, { env: envOf(client) });
  const documents = ({ stdout, stderr }: Ended) => {
    assert.is.not(stdout, "", stderr);
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  };

  /** An account with a source that delivers to the receiver; with a short schedule, so that failures end soon. */
  const shop = async (policy?: Record<string, unknown>) => {
    const client = await signUp(program.url);
    const endpoint = await client.make("/v1/endpoints", { name: "app", url: target.url, retry_schedule_s: [] });
    const made = policy === undefined ? null : await client.make("/v1/policies", { name: "rules", ...policy });
    const settings = { endpoint_id: endpoint.id, ...(made === null ? {} : { policy_id: made.id }) };
    const source = await hookSource(client, settings);
    const send = async (id: string, payload?: unknown): Promise<string> =>
      String((await source.send(id, payload)).body.event_id);
    return { client, endpoint, policy: made, source, send };
  };

  const isAs = (client: Client, id: string, status: string) =>
    until(`${id} is ${status}`, async () => (await client.call("GET", `/v1/events/${id}`)).body.status === status);

  /** Fails every attempt, for good. */
  const refuse = (): void =>
    target.answer((_, response) => {
      response.statusCode = 422;
      response.end("not now");
    });

  test("status says how the service is, and with a key how the account is", async () => {
    const { client, endpoint } = await shop();
    // On a busy machine a server may keep the service waiting so long that it is not ready for a moment.
    const ready = (env: Record<string, string>, ...args: string[]) =>
      until("the service is ready", async () => {
        const said = await countersign(["status", ...args], { env });
        return said.status === 0 ? said : null;
      });
    const open_ = await ready({ COUNTERSIGN_URL: program.url });
    assert.match(open_.stdout, /ready +ok/);
    assert.not.match(open_.stdout, "plan");
    const own = await ready(envOf(client));
    assert.match(own.stdout, "plan scale: 0 of 250000 events");
    assert.match(own.stdout, endpoint.id);
    const [document] = documents(await ready(envOf(client), "--json"));
    assert.equal(document.ready.status, "ok");
    assert.is(document.account.endpoints[0].id, endpoint.id);
    const wrong = await countersign(["status", "--key", "csk_wrong"], { env: { COUNTERSIGN_URL: program.url } });
    assert.equal([wrong.status, /ready +ok/.test(wrong.stdout)], [1, true], wrong.stderr);
    assert.match(wrong.stderr, /^The account is not shown: /);
    const nobody = await countersign(["status", "--url", "http://127.0.0.1:9"]);
    assert.is(nobody.status, 1);
    assert.match(nobody.stderr, "http://127.0.0.1:9 cannot be reached");
  });

  test("events tail prints the newest, the newest last, by the filters; events show prints one", async () => {
    const { client, source, send } = await shop();
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push(await send(`d${n}`, { n }));
    for (const id of ids) await isAs(client, id, "delivered");
    const all = documents(await called(client, "events", "tail", "--json"));
    assert.equal(
      all.map(({ id, status }) => [id, status]),
      ids.map((id) => [id, "delivered"]),
    );
    const two = await called(client, "events", "tail", "-n", "2", "--source", source.id, "--from", "1h");
    assert.equal(
      two.stdout
        .trim()
        .split("\n")
        .map((line) => line.split(/ {2,}/)[1]),
      ids.slice(3),
    );
    const none = await called(client, "events", "tail", "--status", "failed");
    assert.equal([none.status, none.stdout, none.stderr], [0, "", "no event matches\n"]);

    const shown = await called(client, "events", "show", String(ids[0]));
    for (const part of [ids[0], "delivered", "timeline", "attempts", "answer: ok", "delivery id", "d0"])
      assert.match(shown.stdout, String(part));
    const [detail] = documents(await called(client, "events", "show", String(ids[0]), "--json"));
    assert.is(detail.attempts[0].status_code, 200);
    const payload = await called(client, "events", "show", String(ids[0]), "--payload");
    assert.is(payload.stdout, '{"n":0}');
  });

  test("events tail --follow prints each change as it happens, once, by the filters", async () => {
    const { client, send } = await shop();
    const before = await send("before");
    await isAs(client, before, "delivered");
    const tail = runningCommand(["events", "tail", "--follow", "--json"], envOf(client));
    const failing = runningCommand(["events", "tail", "-f", "--status", "failed"], envOf(client));
    await until("what there was is printed", () => tail.lines().length === 1);
    const during = await send("during");
    await isAs(client, during, "delivered");
    refuse();
    const refused = await send("refused");
    const told = () =>
      tail
        .lines()
        .map((line) => JSON.parse(line))
        .map(({ id, status }) => `${id} ${status}`);
    const expected = [before, during].map((id) => `${id} delivered`);
    await until("all is printed", () => told().includes(`${refused} failed`) && told().includes(expected[1] ?? ""));
    assert.equal(
      told().filter((line) => line.startsWith(during)),
      [`${during} queued`, `${during} delivered`],
    );
    assert.equal(told().slice(0, 1), expected.slice(0, 1));
    await until("failures alone are printed", () => failing.lines().length === 1);
    assert.match(failing.lines()[0] ?? "", `${refused}  failed`);
    assert.match(failing.lines()[0] ?? "", "http-4xx");
    assert.is(await tail.stop(), null);
    await failing.stop();
  });

  test("a person logs in, reads what an approval is about and approves it, which a key cannot", async () => {
    const { client, send } = await shop({ approval: { when: "true", expires_after_s: 3_600 } });
    const dir = temporaryFolder();
    const env = { COUNTERSIGN_URL: program.url, XDG_CONFIG_HOME: dir };
    try {
      const login = runningCommand(["login", "--profile", "mine"], env);
      const code = await until("the code is printed", () => /code (\S+)\./.exec(login.notes())?.[1]);
      const shown = await client.session("POST", "/v1/auth/device/approve", { user_code: code });
      assert.is(shown.status < 300, true, JSON.stringify(shown.body));
      const isLoggedIn = () => login.lines().some((line) => line.startsWith("You are logged in as"));
      await until("the login has ended", isLoggedIn);
      await login.stop();

      const id = await send("held", { amount: 120 });
      await isAs(client, id, "held");
      const [listed] = await until("the approval is listed", async () => {
        const [page] = documents(await countersign(["approvals", "list", "--json"], { env }));
        return page.data.length === 1 ? page.data : null;
      });
      const { id: approval, digest } = listed;
      const detail = await countersign(["approvals", "show", approval], { env });
      assert.is(detail.status, 0, detail.stderr);
      for (const part of [digest, '"amount":120']) assert.ok(detail.stdout.includes(part), detail.stdout);

      const byKey = await called(client, "approvals", "approve", approval, "--digest", digest);
      assert.is(byKey.status, 1);
      assert.is(target.counts().get(id), undefined, "nothing is sent before a person has decided");
      const approved = await countersign(["approvals", "approve", approval, "--digest", digest], { env });
      assert.equal([approved.status, approved.stdout], [0, `${approval} is consumed\n`], approved.stderr);
      await isAs(client, id, "delivered");
      assert.is((await countersign(["logout"], { env })).status, 0);
      assert.is((await countersign(["whoami"], { env })).status, 2);
    } finally {
      removeFolder(dir);
    }
  });

  test("a key that may not, a wrong key, a wrong call: one sentence each, and its exit code", async () => {
    const { client } = await shop();
    const viewer = await client.session("POST", "/v1/api-keys", { name: "viewer", role: "viewer" });
    const env = { COUNTERSIGN_URL: program.url, COUNTERSIGN_API_KEY: viewer.body.key };
    const forbidden = await countersign(["replay", "--status", "failed"], { env });
    assert.equal([forbidden.status, forbidden.stdout], [1, ""]);
    assert.is(forbidden.stderr.trim().split("\n").length, 1, forbidden.stderr);
    const unknown = await countersign(["events", "tail", "--key", `csk_${"a".repeat(32)}`], { env });
    assert.is(unknown.status, 1);
    const missing = await called(client, "events", "show", `evt_${"a".repeat(32)}`);
    assert.is(missing.status, 1);
    for (const args of [
      ["events", "show", "acc_1"],
      ["events", "tail", "-n", "0"],
      ["events", "tail", "--from", "yesterday"],
      ["replay"],
      ["replay", "--status", "held"],
      ["replay", `evt_${"a".repeat(32)}`, "--dry-run"],
      ["listen"],
      ["listen", "--forward", "localhost:3000"],
    ]) {
      const wrong = await called(client, ...args);
      assert.is(wrong.status, 2, args.join(" "));
      assert.match(wrong.stderr, "usage: countersign");
      assert.not.match(wrong.stderr, client.key);
    }
    const withoutKey = await countersign(["events", "tail"], { env: { COUNTERSIGN_URL: program.url } });
    assert.is(withoutKey.status, 2);
    assert.match(withoutKey.stderr, "COUNTERSIGN_API_KEY");
  });

  test("one failed event is replayed and its outcome printed; a delivered one is refused", async () => {
    const { client, send } = await shop();
    refuse();
    const id = await send("once");
    await isAs(client, id, "failed");
    const again = await called(client, "replay", id, "--reason", "not mended yet");
    assert.is(again.status, 1, again.stderr);
    assert.ok(again.stdout.startsWith(`${id} is failed: http-4xx`), again.stdout);
    target.answer((_, response) => response.end("ok"));
    const mended = await called(client, "replay", id, "--reason", "mended", "--json");
    assert.is(mended.status, 0, mended.stderr);
    const [document] = documents(mended);
    assert.equal([document.event_id, document.status, document.attempt.number], [id, "delivered", 3]);
    const late = await called(client, "replay", id);
    assert.is(late.status, 1);
    assert.match(late.stderr, /delivered/);
    assert.is(target.counts().get(id), 3);
  });

  test("many are replayed by a filter: the dry run says what, the replay does that, and says how it went", async () => {
    const { client, endpoint, send } = await shop();
    refuse();
    const ids: string[] = [];
    // Fewer than what opens the endpoint's circuit.
    for (let n = 0; n < 8; n += 1) ids.push(await send(`m${n}`));
    for (const id of ids) await isAs(client, id, "failed");
    const plan = await called(client, "replay", "--status", "failed", "--dry-run");
    assert.is(plan.status, 0, plan.stderr);
    assert.match(plan.stdout, "8 events, received ");
    assert.match(plan.stdout, `${endpoint.id}  8`);
    const [dry] = documents(await called(client, "replay", "--status", "failed", "--dry-run", "--json"));
    assert.equal([dry.count, dry.endpoints], [8, [{ id: endpoint.id, count: 8 }]]);
    for (const id of ids) assert.is(target.counts().get(id), 1, "a dry run sends nothing");

    target.answer((_, response) => response.end("ok"));
    const args = ["--status", "failed", "--endpoint", endpoint.id, "--rate", "100", "--reason", "mended"];
    const replayed = await called(client, "replay", ...args);
    assert.is(replayed.status, 0, replayed.stderr);
    assert.match(replayed.stdout, /^rpl_\S+ is done: 8 of 8: 8 delivered, 0 failed, 0 skipped\n$/);
    for (const id of ids) assert.is(target.counts().get(id), 2);
    const [id = ""] = replayed.stdout.split(" ");
    const [watched] = documents(await called(client, "replay", id, "--json"));
    assert.equal([watched.status, watched.total, watched.delivered], ["done", 8, 8]);
    const empty = await called(client, "replay", "--status", "failed");
    assert.equal([empty.status, empty.stdout], [0, "Nothing to replay.\n"]);
  });

  test("a replay goes on without the command, and is cancelled by one", async () => {
    const { client, send } = await shop();
    target.answer(({ body }, response) => response.writeHead(JSON.parse(body).n % 2 === 0 ? 200 : 422).end());
    // So many that a slow machine does not come to their end before it has begun two processes; and delivered ones between
    // them, which keep the endpoint's circuit closed.
    for (let n = 0; n < 40; n += 1) {
      const id = await send(`c${n}`, { n });
      await isAs(client, id, n % 2 === 0 ? "delivered" : "failed");
    }
    const args = ["replay", "--status", "failed", "--rate", "1", "--detach", "--json"];
    const [started] = documents(await called(client, ...args));
    assert.equal([started.status, started.total], ["running", 20]);
    await until("it can be read", async () => (await client.call("GET", `/v1/replays/${started.id}`)).status === 200);
    const watching = runningCommand(["replay", started.id], envOf(client));
    const cancelled = await called(client, "replay", "cancel", started.id);
    assert.is(cancelled.stdout, `${started.id} is cancelled\n`);
    await until("the watcher says so", () => /is cancelled/.test(watching.lines().join()));
    await until("and ends", () => watching.child.exitCode !== null);
    assert.is(watching.child.exitCode, 1);
  });

  test("listen gives new deliveries to a local program as well, signed, in order, and tells what it answered", async () => {
    const { client, source, send } = await shop();
    const local = await receiver();
    const secret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
    await send("before");
    const listening = runningCommand(
      ["listen", "--forward", local.url, "--secret", secret, "--source", source.id, "--json"],
      envOf(client),
    );
    await until("it listens", () => listening.notes().includes(`forwarding to ${local.url}`));
    assert.not.match(listening.notes(), secret);
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await send(`l${n}`, { n }));
    await until("all are told", () => listening.lines().length === 4);
    assert.equal(
      local.arrivals.map(({ id, body }) => [id, body]),
      ids.map((id, n) => [id, `{"n":${n}}`]),
    );
    for (const { id, headers, body } of local.arrivals) {
      const signed = `${id}.${headers["webhook-timestamp"]}.${body}`;
      const mac = createHmac("sha256", Buffer.alloc(32, 5)).update(signed).digest("base64");
      assert.is(headers["webhook-signature"], `v1,${mac}`);
      assert.is(headers["content-type"], "application/json");
      await isAs(client, id, "delivered");
      const delivered = target.arrivals.find((it) => it.id === id)?.headers.traceparent;
      // The trace is that of the delivery, and the span another one.
      assert.is(String(headers.traceparent).slice(0, 35), String(delivered).slice(0, 35));
      assert.is.not(headers.traceparent, delivered);
    }
    const told = listening.lines().map((line) => JSON.parse(line));
    assert.equal(
      told.map(({ id, status_code }) => [id, status_code]),
      ids.map((id) => [id, 200]),
    );

    await local.close();
    const lost = await send("nobody is there");
    await until("that is told as well", () => listening.lines().length === 5);
    const last = JSON.parse(listening.lines()[4] ?? "");
    assert.equal([last.id, last.status_code], [lost, null]);
    assert.match(last.failure, "ECONNREFUSED");
    await isAs(client, lost, "delivered");
    await listening.stop();
  });

  test("following continues after the last record when the service was away", async () => {
    // Its own, as the others are not to be away.
    const own = await open();
    let service = await startProgram(own.env);
    const port = new URL(service.url).port;
    const client = await signUp(service.url);
    const source = await hookSource(client);
    const tail = runningCommand(["events", "tail", "-f", "--json"], {
      COUNTERSIGN_URL: service.url,
      COUNTERSIGN_API_KEY: client.key,
    });
    await source.send("one");
    await until("the first is printed", () => tail.lines().length === 1);
    await service.kill();
    service = await startProgram({ ...own.env, PORT: port }, service.dir);
    const ids = [];
    for (const id of ["two", "three"]) ids.push((await source.at(service.url).send(id)).body.event_id);
    await until("it has gone on", () => tail.lines().length === 3);
    assert.equal(
      tail
        .lines()
        .slice(1)
        .map((line) => JSON.parse(line).id),
      ids,
    );
    await tail.stop();
    await service.stop();
    removeFolder(service.dir);
    await own.close();
  });

  test.run();
};

for (const set of engineSets()) commandLine(set);
