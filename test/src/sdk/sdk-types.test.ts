import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { EXIT_FAILURE, EXIT_USAGE, run } from "../../../src/cli/run.ts";

const folder = mkdtempSync(join(tmpdir(), "countersign-sdk-types-"));
const out = join(folder, "actions.ts");

type Asked = { readonly url: string; readonly authorization: string | undefined };
const asked: Asked[] = [];
let respond: (request: IncomingMessage, response: ServerResponse) => void = () => {};
const server = createServer((request, response) => {
  asked.push({ url: request.url ?? "", authorization: request.headers.authorization });
  respond(request, response);
});

const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
};

const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const called = async (args: readonly string[], env: Record<string, string> = {}) => {
  asked.length = 0;
  const printed: string[] = [];
  const noted: string[] = [];
  const terminal = { out: (line: string) => printed.push(line), note: (line: string) => noted.push(line) };
  const status = await run(["sdk", "types", ...args], env, terminal);
  return { status, out: printed.join("\n"), note: noted.join("\n") };
};

const test = suite("countersign sdk types");

test.before(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
test.after(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

const PAGES: Readonly<Record<string, unknown>> = {
  "/v1/actions?limit=100": { data: [{ name: "refund.create", schema: { type: "object" } }], next_cursor: "n/2" },
  "/v1/actions?limit=100&cursor=n%2F2": { data: [{ name: "mail.send" }], next_cursor: null },
};

test("the actions of all pages are written to the file that is named", async () => {
  respond = ({ url = "" }, response) => json(response, 200, PAGES[url]);
  const { status, out: printed, note } = await called(["--url", `${url()}/`, "--key", "csk_a", "--out", out]);
  assert.is(status, 0);
  assert.is(printed, "");
  assert.match(note, "2 actions");
  assert.equal(
    asked,
    Object.keys(PAGES).map((path) => ({ url: path, authorization: "Bearer csk_a" })),
  );
  const text = readFileSync(out, "utf8");
  assert.match(text, '"mail.send"');
  assert.match(text, '"refund.create"');
});

test("without a file they are printed; the key may be in the environment", async () => {
  respond = ({ url = "" }, response) => json(response, 200, PAGES[url]);
  const { status, out: printed } = await called(["--url", url()], { COUNTERSIGN_API_KEY: "csk_b" });
  assert.is(status, 0);
  assert.is(`${printed}\n`, readFileSync(out, "utf8"));
  assert.is(asked[0]?.authorization, "Bearer csk_b");
  const named = { COUNTERSIGN_URL: url(), COUNTERSIGN_API_KEY: "csk_c" };
  assert.is((await called([], named)).out, printed);
  assert.is(asked.at(-1)?.authorization, "Bearer csk_c");
});

test("a wrong call is refused before anything is asked, and no key is repeated", async () => {
  const wrong = [
    ["--url", "countersign.test", "--key", "csk_a"],
    ["--url", "file:///etc/passwd", "--key", "csk_a"],
    ["--url", url()],
    ["--url", url(), "--key", "csa_secret"],
    ["--url", url(), "--key", "csk_a\nsecret"],
    ["--url", url(), "--key", "csk_a", "more"],
  ];
  for (const args of wrong) {
    const { status, note } = await called(args);
    assert.is(status, EXIT_USAGE, args.join(" "));
    assert.not.match(note, "secret");
  }
  assert.is(asked.length, 0);
});

test("a refusal is printed in the service's words, and the file stays as it was", async () => {
  const before = readFileSync(out, "utf8");
  respond = (_, response) => json(response, 401, { code: "unauthenticated", detail: "No such key." });
  const { status, note } = await called(["--url", url(), "--key", "csk_a", "--out", out]);
  assert.is(status, EXIT_FAILURE);
  assert.match(note, "No such key.");
  assert.not.match(note, "csk_a");
  assert.is(readFileSync(out, "utf8"), before);
});

const NOT_THE_SERVICE: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "a page": (response) => response.writeHead(200).end("<html></html>"),
  "a redirect": (response) => response.writeHead(302, { location: `${url()}/elsewhere` }).end(),
  "another list": (response) => json(response, 200, { data: [{ id: 1 }], next_cursor: null }),
  "no answer": (response) => response.destroy(),
};
for (const [name, answer] of Object.entries(NOT_THE_SERVICE)) {
  test(`an answer that is not from the service is reported in one sentence and not followed: ${name}`, async () => {
    respond = (_, response) => answer(response);
    const { status, note } = await called(["--url", url(), "--key", "csk_a"]);
    assert.is(status, EXIT_FAILURE);
    assert.match(note, /^http:\/\/127\.0\.0\.1:\d+\S* (answered with .+|cannot be reached: .+)$/);
    assert.ok(asked.every((it) => it.url.startsWith("/v1/actions")));
  });
}

test("pages that never end are given up", async () => {
  respond = (_, response) => json(response, 200, { data: [], next_cursor: "again" });
  const { status, note } = await called(["--url", url(), "--key", "csk_a"]);
  assert.is(status, EXIT_FAILURE);
  assert.match(note, "more than 10000 actions");
});

test.run();
