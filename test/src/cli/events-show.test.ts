import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ran, scriptedService, sendJson } from "../../support/scripted-service.ts";

const test = suite("countersign events show");

test("any payload is printed as it was received, byte for byte", async () => {
  const service = await scriptedService();
  // No UTF-8, a byte order mark, no line feed at its end.
  const payload = Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0xff, 0x00, 0x0d, 0x7d]);
  service.answer((_, response) => response.writeHead(200, { "content-type": "application/octet-stream" }).end(payload));
  const env = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: "csk_a" };
  const { status, out, bytes } = await ran(["events", "show", `evt_${"a".repeat(32)}`, "--payload"], env);
  service.close();
  assert.equal([status, out, [...bytes]], [0, "", [...payload]]);
});

const REORDERED = "a\u202eb\u200bc\u001b[2J\n";
const EVENT = {
  ...{ id: `evt_${"a".repeat(32)}`, type: REORDERED, status: "delivered", received_at: "2026-03-01T12:00:00.000Z" },
  ...{ endpoint_id: null, delivery_id: REORDERED, cost_eur: null, approval_id: null, duplicates: 0 },
  ...{ delivery_id_reused: 0, trace_id: "0", failure: null, attempts: [], attempts_left_out: 0, timeline: [] },
  origin: { kind: "source", id: "src_1", name: REORDERED, type: "hmac" },
  payload: { content_type: REORDERED, size: 1, sha256: "0", erased_at: null },
  verdict: { decision: "allow", policy: null, gates: [] },
};

test("text from outside neither controls the terminal nor hides on it, even in a refusal and in JSON", async () => {
  const service = await scriptedService();
  const env = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: "csk_a" };
  const show = (...more: readonly string[]) => ran(["events", "show", EVENT.id, ...more], env);
  const unseen = /\p{Cf}|(?!\n)\p{Cc}/u;

  service.answer((_, response) => sendJson(response, 200, EVENT));
  const { out } = await show();
  assert.match(out, "a\\u202eb\\u200bc\\u001b[2J\\u000a");
  assert.not.match(out, unseen);
  const asJson = (await show("--json")).out;
  assert.not.match(asJson, unseen);
  assert.equal(JSON.parse(asJson), EVENT);

  service.answer((_, response) => sendJson(response, 409, { detail: `The event ${REORDERED} is gone.` }));
  const refused = await show();
  assert.match(refused.note, "The event a\\u202eb");
  assert.not.match(refused.note, unseen);
  service.close();
});

test("a sample is marked, and another event is not", async () => {
  const service = await scriptedService();
  const env = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: "csk_a" };
  const shown = async (sample: boolean): Promise<string> => {
    service.answer((_, response) => sendJson(response, 200, { ...EVENT, sample }));
    return (await ran(["events", "show", EVENT.id], env)).out;
  };
  assert.match(await shown(true), /^sample +yes, /m);
  assert.not.match(await shown(false), /sample/);
  service.close();
});

test("a payload is shown with escapes to a person, and as it is to a program", async () => {
  const service = await scriptedService();
  service.answer((_, response) => response.writeHead(200).end(REORDERED));
  const env = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: "csk_a" };
  const show = (isRead: boolean) => ran(["events", "show", EVENT.id, "--payload"], env, { isRead });
  assert.match((await show(true)).out, "a\\u202eb\\u200bc\\u001b[2J");
  assert.is((await show(false)).bytes.toString(), REORDERED);
  service.close();
});

test.run();
