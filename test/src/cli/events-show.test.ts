import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ran, scriptedService } from "../../support/scripted-service.ts";

const test = suite("countersign events show");

test("a payload is printed as it was received, byte for byte, whatever it is", async () => {
  const service = await scriptedService();
  // No UTF-8, a byte order mark, no line feed at its end.
  const payload = Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0xff, 0x00, 0x0d, 0x7d]);
  service.answer((_, response) => response.writeHead(200, { "content-type": "application/octet-stream" }).end(payload));
  const env = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: "csk_a" };
  const { status, out, bytes } = await ran(["events", "show", `evt_${"a".repeat(32)}`, "--payload"], env);
  service.close();
  assert.equal([status, out, [...bytes]], [0, "", [...payload]]);
});

test.run();
