import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync, gzipSync } from "node:zlib";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { HOOK_SECRET, hookSource, signUp } from "../support/client.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";

const test = suite("bodies in a coding");
const JSON_TEXT = JSON.stringify({ pad: "x".repeat(2_000) });
const BODY = gzipSync(JSON_TEXT);

type Arrival = { readonly headers: IncomingHttpHeaders; readonly body: Buffer };

/** Keeps the bytes as they come; every event's first attempt fails. */
const arrivals: Arrival[] = [];
const target = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    arrivals.push({ headers: request.headers, body: Buffer.concat(chunks) });
    response.writeHead(request.headers["countersign-attempt"] === "1" ? 500 : 200).end();
  });
});
let dir: string;
let program: Program;

test.before(async () => {
  await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
  target.unref();
  dir = temporaryFolder();
  program = await startProgram({}, dir);
});
test.after(() => {
  killPrograms();
  target.closeAllConnections();
  target.close();
  removeFolder(dir);
});

test("a body arrives in the bytes and with the coding that it came in, at once and from the log, and verifies", async () => {
  const client = await signUp(program.url);
  const { port } = target.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/hook`;
  const app = await client.make("/v1/endpoints", { name: "app", url, retry_schedule_s: [1] });
  const source = await hookSource(client, { endpoint_id: app.id });
  const send = async (id: string, coding: Record<string, string>): Promise<string> => {
    const signature = createHmac("sha256", HOOK_SECRET).update(BODY).digest("hex");
    const headers = { "content-type": "application/json", "x-signature": signature, "x-delivery-id": id, ...coding };
    const reply = await fetch(source.url, { method: "POST", headers, body: BODY });
    assert.is(reply.status, 202);
    return ((await reply.json()) as { event_id: string }).event_id;
  };
  const coded = await send("coded", { "content-encoding": "gzip" });
  const strange = await send("strange", { "content-encoding": "what is this" });
  const arrived = (id: string) => arrivals.filter(({ headers }) => headers["webhook-id"] === id);
  await until("each has been tried again", () => [coded, strange].every((id) => arrived(id).length === 2));

  const key = Buffer.from(app.signing_secret.replace("whsec_", ""), "base64");
  for (const { headers, body } of arrived(coded)) {
    assert.is(headers["content-encoding"], "gzip");
    assert.equal(body, BODY);
    assert.is(gunzipSync(body).toString(), JSON_TEXT);
    // By Standard Webhooks itself: its package reads any body as UTF-8, which compressed bytes do not survive.
    const signed = createHmac("sha256", key).update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`);
    assert.is(headers["webhook-signature"], `v1,${signed.update(body).digest("base64")}`);
  }
  for (const { headers, body } of arrived(strange)) {
    assert.is(headers["content-encoding"], undefined, "what is no coding is not passed on");
    assert.equal(body, BODY);
  }

  const authorization = `Bearer ${client.key}`;
  await until("it is in the views", async () => (await client.call("GET", `/v1/events/${coded}`)).status === 200);
  const payload = await fetch(`${program.url}/v1/events/${coded}/payload`, { headers: { authorization } });
  assert.is(payload.headers.get("countersign-content-encoding"), "gzip");
  assert.equal(Buffer.from(await payload.arrayBuffer()), BODY, "the bytes as they were received");
  assert.is(await program.stop(), 0);
});

test.run();
