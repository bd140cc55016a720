import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { defineAction, registerAgent } from "../support/agent.ts";
import { type Client, hookSource, signUp } from "../support/client.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";
import { receiver } from "../support/receiver.ts";
import { testWhere } from "../support/skipped.ts";

/** The receivers of `docs/samples`, each as its own program, against deliveries of the service. */
const test = suite("the samples of receivers");

const SAMPLES = [
  { language: "TypeScript", file: "receiver.ts", tool: "node", args: [] },
  { language: "JavaScript", file: "receiver.mjs", tool: "node", args: [] },
  { language: "Python", file: "receiver.py", tool: "python3", args: [] },
  { language: "Go", file: "receiver.go", tool: "go", args: ["run"] },
  { language: "Java", file: "Receiver.java", tool: "java", args: [] },
] as const;

let program: Program;
let sample: ChildProcess | undefined;
let folder = "";

const COMPILED = "receiver.js";
/** TypeScript of the repository compiles the sample, as Node.js reads types only from 22.18 on. */
const compile = (file: string): void => {
  const options = ["--strict", "--module", "nodenext", "--target", "es2023", "--skipLibCheck", "--types", "node"];
  const places = ["--typeRoots", resolve("node_modules/@types"), "--outDir", folder];
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const args = [resolve("node_modules/typescript/bin/tsc"), ...options, ...places, file];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  assert.is(status, 0, stdout);
};

test.before.each(async () => {
  folder = temporaryFolder();
  program = await startProgram();
});
test.after.each(async () => {
  // Its group: `go run` starts the receiver as a child of its own.
  if (sample?.pid !== undefined) process.kill(-sample.pid, "SIGKILL");
  sample = undefined;
  await program.stop();
  killPrograms();
  removeFolder(program.dir);
  removeFolder(folder);
});

const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
};

type Signed = {
  readonly id: string;
  readonly secret: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The status and the outcome of a request that the test itself has signed. */
const sent = async (url: string, { id, secret, body = "{}", headers = {} }: Signed, ageS = 0): Promise<string> => {
  const at = Math.floor(Date.now() / 1_000) - ageS;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signature = `v1,${createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64")}`;
  const signed = { "webhook-id": id, "webhook-timestamp": `${at}`, "webhook-signature": signature };
  const response = await fetch(url, { method: "POST", headers: { ...signed, ...headers }, body });
  return `${response.status} ${/: ?"(.*)"/.exec(await response.text())?.[1]}`;
};

/** What a program says before it ends by itself, with its exit code. */
const ended = (file: string, tool: string, args: readonly string[], secrets: string | undefined): string => {
  const { COUNTERSIGN_SECRETS: _, ...others } = process.env;
  const env = secrets === undefined ? others : { ...others, COUNTERSIGN_SECRETS: secrets };
  const { status, stderr } = spawnSync(tool, [...args, file, "0"], { cwd: folder, env, encoding: "utf8" });
  return `${status} ${stderr}`;
};

const outcomeOf = async (client: Client, event: string): Promise<string> =>
  until(`${event} is delivered`, async () => {
    const { body } = await client.call("GET", `/v1/events/${event}`);
    return body.status === "delivered" ? String(body.attempts[0].response.body) : null;
  });

/** The sample in a folder of its own, and the name of the file to start. */
const copied = (file: string): string => {
  copyFileSync(join("docs/samples", file), join(folder, file));
  if (file !== "receiver.ts") return file;
  compile(file);
  return COMPILED;
};

const started = async (client: Client, { file, tool, args }: (typeof SAMPLES)[number]) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const endpoint = await client.make("/v1/endpoints", { name: "sample", url });
  sample = spawn(tool, [...args, copied(file), `${port}`], {
    cwd: folder,
    detached: true,
    env: { ...process.env, COUNTERSIGN_SECRETS: endpoint.signing_secret },
    stdio: "ignore",
  });
  await until("the sample listens", async () =>
    fetch(url, { method: "POST" }).then(
      () => true,
      () => null,
    ),
  );
  return { url, endpoint: endpoint.id as string, secret: endpoint.signing_secret as string };
};

for (const it of SAMPLES) {
  const isThere = spawnSync("which", [it.tool]).status === 0 && existsSync(join("docs/samples", it.file));
  testWhere(test, isThere, `${it.tool} is missing`, `${it.language}: does not start without a secret`, () => {
    const file = copied(it.file);
    for (const secrets of [undefined, "", " ", "whsec_"]) {
      assert.match(ended(file, it.tool, it.args, secrets), /^1 [\s\S]*COUNTERSIGN_SECRETS holds no secret/);
    }
  });
  testWhere(test, isThere, `${it.tool} is missing`, `${it.language}: verified, done once, undone`, async () => {
    const client = await signUp(program.url);
    const { url, endpoint, secret } = await started(client, it);
    const hooks = await hookSource(client, { endpoint_id: endpoint });
    assert.match(await outcomeOf(client, (await hooks.send("first")).body.event_id), '"done"');
    // The sample knows the earlier secret alone, by which the second signature of each delivery is made.
    assert.is((await client.session("POST", `/v1/endpoints/${endpoint}/secret`)).status, 200);
    assert.match(await outcomeOf(client, (await hooks.send("rotated")).body.event_id), '"done"');

    assert.is(await sent(url, { id: "evt_once", secret }), "200 done");
    assert.is(await sent(url, { id: "evt_once", secret }), "200 repeated");
    assert.is(await sent(url, { id: "evt_old", secret }, 400), "401 refused");
    assert.is(await sent(url, { id: "evt_early", secret }, -400), "401 refused");
    assert.is(await sent(url, { id: "evt_forged", secret: "whsec_MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAw" }), "401 refused");
    const undo = JSON.stringify({ payload: {}, result: null, forward_webhook_id: "evt_late" });
    const headers = { "countersign-action": "order.cancel" };
    assert.is(await sent(url, { id: "evt_undo", secret, body: undo, headers }), "200 undone");
    assert.is(await sent(url, { id: "evt_late", secret }), "200 skipped");
    // What cannot be read as an undo is not remembered as done, so that its retry is not answered as a repeat.
    for (const body of ["no undo", "no undo", "{}", "[]", "null"])
      assert.is(await sent(url, { id: "evt_unread", secret, body, headers }), "400 not an undo", body);
    const sample = { id: "evt_sample", secret, headers: { "countersign-sample": "true" } };
    assert.is(await sent(url, sample), "200 sample");

    const refusing = await receiver();
    refusing.answer((_arrival, response) => void response.writeHead(422).end());
    const mail = await client.make("/v1/endpoints", { name: "mail", url: refusing.url, retry_schedule_s: [] });
    await defineAction(client, "order.cancel", endpoint);
    const undone = { reversibility: "compensable", compensation: "order.cancel" };
    await defineAction(client, "order.create", endpoint, undone);
    await defineAction(client, "mail.send", mail.id);
    const agent = await registerAgent(program.url, client);
    const steps = [
      { action: "order.create", payload: { sku: "lamp" } },
      { action: "mail.send", payload: {} },
    ];
    const { body } = await agent.bundle("order", steps);
    assert.is(body.status, "rolled_back");
    assert.match(await outcomeOf(client, body.steps[0].compensation_event_id), '"undone"');
    await refusing.close();
  });
}

test.run();
