import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CONSOLE_ADDRESSES } from "../../src/console/addresses.ts";
import { bundledFiles, codingFor } from "../../src/console/bundle.ts";
import type { Authenticate } from "../../src/http/authenticate.ts";
import { consolePage, consoleRoutes, readConsoleBundle } from "../../src/routes/operations/console.ts";
import { testApp } from "../support/http-app.ts";

const test = suite("serving the console's bundle");
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types countersign";
const CLOSED = readConsoleBundle("closed");
/** One session is accepted. */
const AUTHENTICATE: Authenticate = async ({ token }) => {
  if (token === "the-log-is-away") throw new Error("not connected");
  return token === "c0mes-back" ? { kind: "key", account: "acc_1", id: "key_1", role: "viewer" } : null;
};
const opened = () => testApp(consoleRoutes(CLOSED, AUTHENTICATE));

test("the shell is at exactly its addresses, under the policy, and is asked for again each time", async () => {
  const app = await opened();
  for (const path of CONSOLE_ADDRESSES) {
    const { statusCode, headers } = await app.inject({ url: path.replace(/\{\w+\}/, "x") });
    assert.is(statusCode, 200, path);
    assert.is(headers["content-security-policy"], POLICY);
    assert.is(headers["cache-control"], "no-cache");
  }
  assert.is((await app.inject({ url: "/events?status=failed&q=%00&nonsense=1" })).statusCode, 200);
  for (const path of ["/overviews", "/events/a/b", "/audit/1/2", "/settings/a/b", "/index.html", "/components.html"])
    assert.is((await app.inject({ url: path })).statusCode, 404, path);
  const { headers } = await app.inject({ url: "/overview" });
  const again = await app.inject({ url: "/overview", headers: { "if-none-match": `W/${headers.etag}` } });
  assert.equal([again.statusCode, again.body], [304, ""]);
});

test("a browser that opens an unknown address gets the shell as 404, and a client of the API a problem", async () => {
  const app = await testApp(consoleRoutes(CLOSED, AUTHENTICATE), { unknownPage: consolePage(CLOSED) });
  const html = { accept: "text/html,application/xhtml+xml" };
  const opened = await app.inject({ url: "/overviews", headers: html });
  assert.equal([opened.statusCode, opened.headers["content-security-policy"]], [404, POLICY]);
  assert.is(opened.body, (await app.inject({ url: "/overview" })).body);
  for (const url of [`/events/${"x".repeat(300)}`, "/agents/actions/%FF"]) {
    const { statusCode, body } = await app.inject({ url, headers: html });
    assert.equal([statusCode, body], [404, opened.body], url);
    assert.is((await app.inject({ url })).json().type.startsWith("/problems/"), true, url);
  }
  for (const [method, url, headers] of [
    ["GET", "/overviews", {}],
    ["POST", "/overviews", html],
    ["GET", "/v1/nothing", html],
  ] as const) {
    const answer = await app.inject({ method, url, headers });
    assert.equal([answer.statusCode, answer.json().code], [404, "not-found"], `${method} ${url}`);
  }
  assert.is((await app.inject({ method: "POST", url: "/overview", headers: html })).statusCode, 405);
});

test("the shell has no inline script and no style, and all that it loads is served for ever under a hashed name", async () => {
  const app = await opened();
  const { body } = await app.inject({ url: "/events" });
  assert.not.match(body, /<style|style="|\son\w+="|<script(?![^>]*src="\/assets\/)/);
  const loaded = [...body.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, address = ""]) => address);
  assert.ok(loaded.length >= 3);
  for (const address of loaded) {
    const { statusCode, headers } = await app.inject({ url: address });
    assert.is(statusCode, 200, address);
    if (!address.endsWith(".txt")) {
      assert.match(address, /-[\w-]{8}\.\w+$/);
      assert.is(headers["cache-control"], "public, max-age=31536000, immutable");
    }
    assert.is(headers["x-content-type-options"], "nosniff");
  }
});

test("each client gets the smallest coding that it takes, with the same content", async () => {
  const app = await opened();
  const name = [...bundledFiles().keys()].find((it) => it.endsWith(".css")) ?? "";
  const read = async (accepted: string) => {
    const answer = await app.inject({ url: `/${name}`, headers: { "accept-encoding": accepted } });
    assert.is(answer.headers.vary, "accept-encoding");
    return { coding: answer.headers["content-encoding"], bytes: answer.rawPayload };
  };
  const [br, gzip, plain] = [await read("gzip, deflate, br"), await read("gzip;q=0.5, br;q=0"), await read("identity")];
  assert.equal([br.coding, gzip.coding, plain.coding], ["br", "gzip", undefined]);
  assert.ok(br.bytes.length < gzip.bytes.length && gzip.bytes.length < plain.bytes.length);
  assert.equal(brotliDecompressSync(br.bytes), plain.bytes);
  assert.equal(gunzipSync(gzip.bytes), plain.bytes);
  const file = bundledFiles().get(name);
  assert.ok(file !== undefined);
  assert.equal([codingFor("*", file), codingFor("*;q=0", file), codingFor(undefined, file)], ["br", null, null]);
});

test("the shell says whether strangers may make an account, in every coding", async () => {
  const open = await testApp(consoleRoutes(readConsoleBundle("open"), AUTHENTICATE));
  const headers = { "accept-encoding": "br" };
  const shell = brotliDecompressSync((await open.inject({ url: "/sign-in", headers })).rawPayload).toString();
  assert.match(shell, /name="sign-up" content="open"/);
  assert.match((await (await opened()).inject({ url: "/" })).body, /name="sign-up" content="closed"/);
});

test("the shell says the role of the session that the request brought, and is kept apart for each", async () => {
  const app = await opened();
  const read = (headers: Record<string, string>) => app.inject({ url: "/overview", headers });
  const [visitor, member] = [await read({}), await read({ cookie: "theme=dark; __Host-session=c0mes-back" })];
  assert.match(visitor.body, /name="session" content="none"/);
  for (const cookie of ["__Host-session=; theme=dark", "__Host-session=ended"])
    assert.is((await read({ cookie })).body, visitor.body, cookie);
  const unknown = await read({ cookie: "__Host-session=the-log-is-away" });
  assert.match(unknown.body, /name="session" content="unknown"/, "the page asks, and says what is wrong");
  assert.match(member.body, /name="session" content="viewer"/);
  assert.not.match(member.body, /c0mes-back/);
  assert.is(member.headers.vary, "accept-encoding, cookie");
  const kept = String(visitor.headers.etag);
  const cookie = "__Host-session=c0mes-back";
  assert.is((await read({ cookie, "if-none-match": kept })).statusCode, 200);
  assert.is((await read({ cookie, "if-none-match": String(member.headers.etag) })).statusCode, 304);
});

/** The addresses that the field `Link` names. */
const named = (link: unknown): readonly string[] =>
  [...String(link).matchAll(/<([^>]*)>; rel=preload; as=fetch; crossorigin(?:, |$)/g)].map(([, it = ""]) => it);

test("who has the shell already is told a page's first reads with it, and no more than the role may ask", async () => {
  const app = await opened();
  const cookie = "__Host-session=c0mes-back";
  const { etag, link } = (await app.inject({ url: "/overview", headers: { cookie } })).headers;
  assert.equal(named(link), ["/v1/auth/me"], "the scripts come first");
  const again = { cookie, "if-none-match": String(etag) };
  const readsAt = async (url: string): Promise<readonly string[]> =>
    named((await app.inject({ url, headers: again })).headers.link);
  const event = await readsAt("/events/evt_1");
  assert.equal(event.slice(0, 2), ["/v1/auth/me", "/v1/events/evt_1"]);
  assert.not(
    event.some((it) => it.startsWith("/v1/audit")),
    "a viewer may not read the audit",
  );
  assert.is((await readsAt("/"))[1], "/v1/attention");
  assert.ok((await readsAt("/overview?range=7d")).some((it) => it.startsWith("/v1/stats?metric=held&by=action&from=")));
  assert.ok((await readsAt("/settings/sessions")).includes("/v1/auth/sessions?limit=100"));
  const twice = await readsAt("/events?status=failed&status=held&status=failed&q=");
  assert.ok(
    twice.some((it) => /^\/v1\/events\?.*status=failed%2Cheld&/.test(it) && !it.includes("q=")),
    `the query is read as the page reads it: ${twice}`,
  );
  assert.equal(await readsAt("/sign-in?to=%2Fevents"), ["/v1/auth/me"], "a member goes on from there at once");
  for (const url of ["/start", "/join", "/reset"]) assert.equal(await readsAt(url), [], `${url} asks nothing`);
  const { headers } = await app.inject({ url: "/overview" });
  const visitor = await app.inject({ url: "/overview", headers: { "if-none-match": String(headers.etag) } });
  assert.equal([visitor.statusCode, named(visitor.headers.link)], [304, ["/v1/auth/me"]]);
});

test("nothing of an address gets out of its place in the field, which has a limit", async () => {
  const app = await opened();
  const cookie = "__Host-session=c0mes-back";
  const { etag } = (await app.inject({ url: "/overview", headers: { cookie } })).headers;
  const headers = { cookie, "if-none-match": String(etag) };
  const hostile = encodeURIComponent('x>; rel=preload, <https://evil.example/"');
  for (const url of [`/events?q=${hostile}`, `/events/${hostile}`]) {
    const { link } = (await app.inject({ url, headers })).headers;
    assert.not.match(String(link), /evil\.example\//);
    assert.is(
      named(link).join("|").includes(hostile.replaceAll("%20", "+")) || String(link).includes(hostile),
      true,
      url,
    );
  }
  const long = (await app.inject({ url: `/events?q=${"é".repeat(1_000)}`, headers })).headers.link;
  assert.equal(named(long), ["/v1/auth/me"]);
});

test("nothing else of the build is served", async () => {
  const app = await opened();
  for (const name of ["manifest.json", "inputs.sha256", "..%2fmanifest.json", "%2e%2e%2findex.html", "constructor", ""])
    assert.is((await app.inject({ url: `/assets/${name}` })).statusCode, 404, name);
});

test("the licences of what is served are served", async () => {
  const { body } = await (await opened()).inject({ url: "/assets/licences.txt" });
  for (const text of ["SIL OPEN FONT LICENSE", "Preact", "Spline Sans Mono", "CodeMirror"])
    assert.ok(body.includes(text), text);
});

test("the verifier is a file to save, and holds all that it runs", async () => {
  const app = await opened();
  const { statusCode, headers, body } = await app.inject({ url: "/verify.html" });
  assert.is(statusCode, 200);
  assert.match(headers["content-disposition"] ?? "", /^attachment; /);
  assert.is(headers["content-security-policy"], POLICY);
  assert.match(body, /<meta http-equiv="content-security-policy" content="default-src 'none'; script-src 'sha256-/);
  assert.not.match(body, /\ssrc=|<link|@import|url\(|https?:\/\//);
});

test.run();
