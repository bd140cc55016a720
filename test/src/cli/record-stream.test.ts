import type { ServerResponse } from "node:http";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { apiOf } from "../../../src/cli/api.ts";
import { followRecords, type StreamItem } from "../../../src/cli/record-stream.ts";
import { type ScriptedService, scriptedService, sendJson } from "../../support/scripted-service.ts";

const test = suite("following the records");
let service: ScriptedService;
test.before.each(async () => {
  service = await scriptedService();
});
test.after.each(() => service.close());

const api = () => apiOf({ options: { url: service.url, key: "csk_a" } }, {});
const frame = (index: number, data: unknown): string =>
  `id: ${index}-x\nevent: e\ndata: ${JSON.stringify({ type: "io.countersign.EventAdmitted.v1", subject: `delivery-evt_${index}`, position: `${index}`, time: "", data })}\n\n`;
const open = (response: ServerResponse, id: string): void => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(`retry: 3000\nid: ${id}\n\n`);
};

/** Takes so many, then leaves. */
const heard = async (count: number): Promise<readonly string[]> => {
  const found: string[] = [];
  for await (const it of followRecords(api(), () => undefined)) {
    found.push(nameOf(it));
    if (found.length === count) break;
  }
  return found;
};
const nameOf = (it: StreamItem): string =>
  it.kind === "open" ? "open" : `${it.record.type} ${it.record.id} ${JSON.stringify(it.record.data)}`;

test("records arrive whole however the bytes are cut, and comments are ignored", async () => {
  service.answer((_, response) => {
    open(response, "start");
    const bytes = Buffer.from(`:\n\n${frame(0, { text: "é😀" })}${frame(1, {})}`);
    for (const byte of bytes) response.write(Buffer.of(byte));
  });
  assert.equal(await heard(3), ["open", 'EventAdmitted evt_0 {"text":"é😀"}', "EventAdmitted evt_1 {}"]);
});

test("when a connection ends, the next one continues after the last record", async () => {
  let connections = 0;
  service.answer((_, response) => {
    connections += 1;
    if (connections === 1) {
      open(response, "start");
      response.write(frame(0, {}));
      response.write("id: 1-x\ndata: {half");
      setImmediate(() => response.destroy());
    } else if (connections === 2)
      response.writeHead(502, { "content-type": "text/html" }).end("a proxy in front of it");
    else {
      open(response, "0-x");
      response.write(frame(1, {}));
    }
  });
  assert.equal(await heard(3), ["open", "EventAdmitted evt_0 {}", "EventAdmitted evt_1 {}"]);
  assert.equal(
    service.asked.map(({ headers }) => headers["last-event-id"]),
    [undefined, "0-x", "0-x"],
  );
});

test("a refusal at the start, or a final one, ends the stream with the service's sentence", async () => {
  service.answer((_, response) => sendJson(response, 403, { detail: "It needs the role auditor." }));
  await heard(1).then(
    () => assert.unreachable("it was refused"),
    (error: Error) => assert.is(error.message, "It needs the role auditor."),
  );
  let connections = 0;
  service.answer((_, response) => {
    connections += 1;
    if (connections > 1) return sendJson(response, 401, { detail: "The key is revoked." });
    open(response, "start");
    return response.end();
  });
  await heard(2).then(
    () => assert.unreachable("it was refused"),
    (error: Error) => assert.match(error.message, "The key is revoked."),
  );
});

test.run();
