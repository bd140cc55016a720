import { createHash, createHmac, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PAYLOAD_BYTES_MAX } from "../../src/streams/payloads.ts";
import { HOOK_SECRET, hookSource, signUp } from "../support/client.ts";
import { type EngineSet, type Engines, engineSets } from "../support/engine-sets.ts";
import { killPrograms, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";

const hash = (body: Uint8Array): string => createHash("sha256").update(body).digest("hex");

/** Keeps what came by the hash of its bytes; every event's first attempt fails, so that the second comes from the log. */
const arrivals: { readonly id: string; readonly sha256: string }[] = [];
const target = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    arrivals.push({ id: String(request.headers["webhook-id"]), sha256: hash(Buffer.concat(chunks)) });
    response.writeHead(request.headers["countersign-attempt"] === "1" ? 500 : 200).end();
  });
});
await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
target.unref();

const largestPayloads = ({ name, open }: EngineSet): void => {
  const test = suite(`the largest payloads: ${name}`);
  const dir = temporaryFolder();
  let engines: Engines;

  test.before(async () => {
    engines = await open();
  });
  test.after(async () => {
    killPrograms();
    await engines.close();
    removeFolder(dir);
  });

  test("are accepted, delivered byte for byte at once and from the log, known again, and erased", async () => {
    const program = await startProgram(engines.env, dir);
    const client = await signUp(program.url);
    const { port } = target.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/hook`;
    const app = await client.make("/v1/endpoints", { name: "app", url, retry_schedule_s: [1] });
    const source = await hookSource(client, { endpoint_id: app.id });
    const send = async (id: string, body: Buffer) => {
      const signature = createHmac("sha256", HOOK_SECRET).update(body).digest("hex");
      const headers = { "content-type": "application/json", "x-signature": signature, "x-delivery-id": id };
      const reply = await fetch(source.url, { method: "POST", headers, body });
      return { status: reply.status, body: (await reply.json()) as { event_id: string; duplicate?: boolean } };
    };
    const bodies = new Map([
      ["nul", Buffer.alloc(PAYLOAD_BYTES_MAX)],
      ["random", randomBytes(PAYLOAD_BYTES_MAX)],
      ["multibyte", Buffer.from("€".repeat(PAYLOAD_BYTES_MAX / 3))],
      ["quotes", Buffer.alloc(PAYLOAD_BYTES_MAX, '"')],
    ]);
    const checked = async ([id, body]: readonly [string, Buffer]): Promise<void> => {
      const { status, body: answer } = await send(id, body);
      assert.is(status, 202, id);
      const arrived = () => arrivals.filter((arrival) => arrival.id === answer.event_id);
      await until(`${id} has come twice`, () => arrived().length === 2);
      assert.equal(
        arrived().map(({ sha256 }) => sha256),
        [hash(body), hash(body)],
        id,
      );
      assert.is((await send(id, body)).body.duplicate, true);
      const other = Buffer.from(body);
      other[other.length - 1] = 0x20;
      assert.is((await send(id, other)).status, 409, "another body is told from it by its last byte");

      const payload = `${program.url}/v1/events/${answer.event_id}/payload`;
      const headers = { authorization: `Bearer ${client.key}`, "content-type": "application/json" };
      const read = await until(`${id} is in the views`, async () => {
        const reply = await fetch(payload, { headers });
        return reply.status === 200 ? Buffer.from(await reply.arrayBuffer()) : null;
      });
      assert.is(hash(read), hash(body));
      const erased = await client.session("DELETE", `/v1/events/${answer.event_id}/payload`, { reason: "asked for" });
      assert.is(erased.status, 200);
      assert.is((await send(id, body)).body.duplicate, true);
      await until(`${id} is erased`, async () => (await fetch(payload, { headers })).status === 404);
    };
    await Promise.all([...bodies].map(checked));
    assert.is(await program.stop(), 0);
  });

  test.run();
};

for (const engineSet of engineSets()) largestPayloads(engineSet);
