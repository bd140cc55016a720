import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { curlCommand, type Repeat, receiverOf } from "../../../../src/routes/events/event-curl.ts";

const test = suite("curl command");
const ID = `evt_${"a".repeat(32)}`;

type Got = { readonly headers: Record<string, unknown>; readonly body: Buffer };

/** Answers the payload where it is asked for, and keeps what is posted. */
const receiver = async (payload: Buffer) => {
  const got: Got[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method === "POST") got.push({ headers: request.headers, body: Buffer.concat(chunks) });
    response.end(request.method === "GET" && request.headers.authorization === "Bearer csk_x" ? payload : "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server on a port.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, got, close: () => server.close() };
};

const repeatOf = (body: Buffer, over: Partial<Repeat> = {}, payload: Partial<Repeat["payload"]> = {}): Repeat => ({
  id: ID,
  payload: {
    body,
    contentType: "application/json",
    contentEncoding: undefined,
    isHead: false,
    isRedacted: false,
    ...payload,
  },
  sent: { "user-agent": "Countersign/1", "countersign-attempt": "2", authorization: "[redacted]" },
  to: "http://localhost:3000/",
  publicUrl: "http://localhost:8080",
  at: new Date().toISOString(),
  ...over,
});

/** In a folder of its own, by the shell that people paste it into. */
const ran = async (command: string): Promise<void> => {
  const cwd = mkdtempSync(join(tmpdir(), "countersign-curl-"));
  try {
    const env = { PATH: process.env.PATH, COUNTERSIGN_API_KEY: "csk_x", NO_PROXY: "*" };
    await promisify(execFile)("sh", ["-ec", command], { cwd, env });
  } finally {
    rmSync(cwd, { recursive: true });
  }
};

const secretIn = (command: string): string => /whsec_\S+/.exec(command)?.[0] ?? "";

for (const [what, body] of [
  ["quotes, line feeds, dollars and a leading @", Buffer.from('@it\'s $HOME `id` "x"\n\\n!é{}\n')],
  ["nothing", Buffer.from("")],
  ["bytes that are no text", Buffer.from([0, 1, 255, 254, 10])],
  ["a key press", Buffer.from('{"a": "\u001b[201~\rrm -rf"}')],
  ["more than a screen", Buffer.from(JSON.stringify({ text: "x".repeat(200_000) }))],
] as const) {
  test(`sends a body of ${what} as it was, with a signature that holds under the secret it names`, async () => {
    const { url, got, close } = await receiver(body);
    try {
      const command = curlCommand(repeatOf(body, { to: url, publicUrl: url.slice(0, -1) }));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      assert.not.match(command, /[\u0000-\u0009\u000b-\u001f\u007f]/);
      await ran(command);
      const [first] = got;
      assert.is(got.length, 1);
      assert.equal(first?.body, body);
      const { headers = {} } = first ?? {};
      assert.equal([headers["content-type"], headers["webhook-id"]], ["application/json", ID]);
      assert.equal([headers["countersign-attempt"], headers.authorization], ["2", "[redacted]"]);
      if (body.includes(0)) return;
      // The reference implementation signs text alone.
      const at = new Date(Number(headers["webhook-timestamp"]) * 1_000);
      assert.is(headers["webhook-signature"], new Webhook(secretIn(command)).sign(ID, at, body.toString()));
    } finally {
      close();
    }
  });
}

test("a header of the sender's cannot become a command, and hidden fields are said", () => {
  const content = { contentType: "text/x' ; touch pwned '", isRedacted: true };
  const command = curlCommand(repeatOf(Buffer.from("{}"), { sent: {} }, content));
  assert.ok(command.includes("--header 'content-type: text/x'\\'' ; touch pwned '\\'''"));
  assert.match(command, /^# The policy hides fields/m);
  assert.not.match(command, /own are not shown/);
  assert.not.match(curlCommand(repeatOf(Buffer.from("{}"), {}, { contentType: "a\r\nb: c" })), /b: c/);
});

test("the receiver may be another, by http alone", () => {
  assert.is(receiverOf({}), "http://localhost:3000/");
  assert.is(receiverOf({ to: "https://me.test/a'b" }), "https://me.test/a'b");
  for (const to of ["file:///etc/passwd", "localhost:3000", "--output x", ""]) {
    const refused = receiverOf({ to });
    assert.ok(typeof refused !== "string" && refused.problem === "invalid-request", to);
  }
});

test("what came without a type is sent without one: curl would call it a form, and a receiver reads it as that", async () => {
  const { url, got, close } = await receiver(Buffer.from(""));
  try {
    for (const contentType of ["", "text/x\u0007"])
      await ran(curlCommand(repeatOf(Buffer.from('{"a": 1}'), { to: url }, { contentType })));
    assert.equal(
      got.map(({ headers, body }) => [headers["content-type"], body.toString()]),
      [
        [undefined, '{"a": 1}'],
        [undefined, '{"a": 1}'],
      ],
    );
  } finally {
    close();
  }
});

test.run();
