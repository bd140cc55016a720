import { suite } from "uvu";
import * as assert from "uvu/assert";
import { start } from "../../../src/console/browser/console.ts";
import { PAGES } from "../../../src/console/browser/pages.ts";
import { consolePage } from "../../../src/console/page.ts";
import { type FakePage, fakePage, textOf, within } from "../../support/fake-page.ts";
import { until } from "../../support/until.ts";
import { AGENT, ANSWERS, BUNDLE, hostile, ME } from "./console-answers.ts";

const test = suite("console");

type Sent = { readonly call: string; readonly query: string; readonly body: unknown };

/** The console over answers; `over` replaces some of them, a function says what to answer each time. */
const opened = async (over: Readonly<Record<string, unknown>> = {}, hash = "") => {
  const answers: Record<string, unknown> = { ...ANSWERS, ...over };
  const sent: Sent[] = [];
  const send = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(String(input), "http://console.test");
    const call = `${init.method ?? "GET"} ${url.pathname}`;
    sent.push({ call, query: url.search, body: typeof init.body === "string" ? JSON.parse(init.body) : undefined });
    const given = answers[call];
    const answer = typeof given === "function" ? given(url.search) : given;
    if (answer instanceof Response) return answer.clone();
    const headers = { "countersign-position": String(sent.length).padStart(16, "0") };
    if (typeof answer === "string") return new Response(answer, { headers });
    if (answer !== undefined) return Response.json(answer, init.method ? { headers } : {});
    return init.method === undefined
      ? Response.json({ code: "not-found", detail: "There is nothing." }, { status: 404 })
      : Response.json({}, { status: 202, headers });
  };
  // As much of fetch as the console calls.
  const page = fakePage(consolePage("http://console.test", "open"), send as typeof fetch);
  page.browser.location.hash = hash;
  await start(page.browser);
  return { page, sent, answers };
};

const shows = (page: FakePage, text: string) =>
  until(`the page shows ${text}`, () => page.text().includes(text)).catch((error) => {
    throw new Error(`${error}: ${page.text()}`);
  });
const wasSent = (sent: readonly Sent[], call: string) =>
  until(`${call} is sent`, () => sent.some((it) => it.call === call));
const lastOf = (sent: readonly Sent[], call: string) => sent.findLast((it) => it.call === call);

const UNAUTHENTICATED = () => Response.json({ code: "unauthenticated", detail: "Log in." }, { status: 401 });

test("a visitor who is not signed in sees the first steps and two forms, and nothing of the console", async () => {
  const { page } = await opened({ "GET /v1/auth/me": UNAUTHENTICATED() });
  assert.ok(page.text().includes("First steps"));
  assert.ok(page.text().includes("Create an account"));
  assert.not(page.text().includes("Log out"));
});

test("a login that is refused says why; one that holds opens the events; a logout ends it", async () => {
  const { page, sent, answers } = await opened({
    "GET /v1/auth/me": UNAUTHENTICATED(),
    "POST /v1/auth/login": Response.json({ code: "invalid-credentials", detail: "Not these." }, { status: 401 }),
  });
  const login = { email: " ana@shop.example ", password: " with spaces " };
  await page.fill(page.byId("log-in"), login);
  await shows(page, "Not these.");
  assert.equal(lastOf(sent, "POST /v1/auth/login")?.body, { email: "ana@shop.example", password: " with spaces " });
  answers["POST /v1/auth/login"] = ME;
  await page.fill(page.byId("log-in"), login);
  await shows(page, "payment.failed");
  assert.ok(page.text().includes("ana@shop.example · Shop (free)"));
  assert.not(page.text().includes("First steps"));
  await page.byId("log-out").fire("click");
  await shows(page, "First steps");
  assert.not(page.text().includes("payment.failed"));
  assert.ok(sent.some(({ call }) => call === "POST /v1/auth/logout"));
});

test("a session that ends meanwhile leads back to the start", async () => {
  const { page, answers } = await opened();
  answers["GET /v1/agents"] = UNAUTHENTICATED();
  await page.go("#/agents");
  await shows(page, "First steps");
});

const PLACES = Object.keys(PAGES).flatMap((name) => {
  const id = {
    events: "evt_1",
    approvals: "apr_1",
    bundles: "bun_1",
    agents: "agt_1",
    endpoints: "end_1",
    sources: "src_1",
    replays: "rpl_1",
  }[name];
  return [`#/${name}`, `#/${name}/${id}`];
});

/** The page of a place is shown, and not the one before it. */
const isAt = async (page: FakePage, place: string): Promise<void> => {
  const { list, one } = PAGES[place.split("/")[1] ?? ""] ?? {};
  const title = `${(place.split("/").length > 2 ? one : list)?.title} · Countersign`;
  await until(place, () => page.browser.document.title === title);
};

test("each page shows what the API answers, and its links lead to pages that there are", async () => {
  const { page } = await opened();
  for (const place of PLACES) {
    await page.go(place);
    await isAt(page, place);
    assert.not(page.text().includes("Something went wrong"), `${place}: ${page.text()}`);
    for (const link of within(page.byId("content")).filter(({ tagName }) => tagName === "A")) {
      const href = link.attributes.get("href") ?? "";
      assert.ok(/^\/v1\//.test(href) || Object.hasOwn(PAGES, href.replace(/^#\//, "").split(/[/?]/)[0] ?? ""), href);
    }
  }
});

test("markup from senders, people and receivers is shown as text, and never becomes an element or an address", async () => {
  const evil = Object.fromEntries(Object.entries(ANSWERS).map(([call, answer]) => [call, hostile(answer)]));
  const { page } = await opened({ ...evil, "GET /v1/auth/me": ME });
  for (const place of PLACES) {
    await page.go(place);
    await isAt(page, place);
    assert.ok(page.text().includes("<img src=x"), place);
    for (const node of within(page.byId("content"))) {
      assert.not(["IMG", "SCRIPT", "IFRAME", "STYLE"].includes(node.tagName), place);
      for (const [name, value] of node.attributes) {
        assert.not(name.startsWith("on"), name);
        if (name === "href") assert.match(value, /^(#\/|\/v1\/)/);
      }
    }
  }
});

test("characters that reorder text, or that nobody sees, are shown as escapes on every page", async () => {
  const text = "paid\u202e ton\u2066\u200b";
  const answers = Object.entries(ANSWERS).map(([call, answer]) => [call, hostile(answer, text)] as const);
  const { page } = await opened({ ...Object.fromEntries(answers), "GET /v1/auth/me": ME });
  for (const place of PLACES) {
    await page.go(place);
    await isAt(page, place);
    assert.ok(page.text().includes("paid\\u202e ton\\u2066\\u200b"), place);
    assert.not.match(page.text(), /\p{Cf}/u);
    for (const node of within(page.byId("content")))
      for (const name of ["title", "aria-label", "placeholder"])
        assert.not.match(node.attributes.get(name) ?? "", /\p{Cf}/u);
  }
});

test("the account's name and what a refused call says are shown with escapes as well", async () => {
  const detail = "The agent a\u202eb does not exist.";
  const me = { ...ME, account: { ...ME.account, name: "shop\u202e" } };
  const refusal = () => Response.json({ code: "not-found", detail }, { status: 404 });
  const { page } = await opened({ "GET /v1/auth/me": me, "GET /v1/approvals": refusal });
  await page.go("#/approvals");
  await shows(page, "The agent a\\u202eb does not exist.");
  await shows(page, "shop\\u202e");
  assert.not.match(page.text(), /\p{Cf}/u);
  const anonymous = await opened({
    "GET /v1/auth/me": UNAUTHENTICATED(),
    "POST /v1/auth/login": Response.json({ code: "invalid-credentials", detail }, { status: 401 }),
  });
  await anonymous.page.fill(anonymous.page.find("form", "Log in"), { email: "a@a.example", password: "x" });
  await shows(anonymous.page, "The agent a\\u202eb does not exist.");
});

test("a search goes into the address, and from there into the call", async () => {
  const { page, sent } = await opened();
  await page.fill(page.find("form", "Search"), { q: "gate-budget", status: "blocked", from: "" });
  assert.is(page.browser.location.hash, "#/events?q=gate-budget&status=blocked");
  await page.go(`${page.browser.location.hash}&cursor=c1`);
  await until("it is asked", () => lastOf(sent, "GET /v1/events")?.query.includes("cursor") ?? false);
  assert.is(lastOf(sent, "GET /v1/events")?.query, "?q=gate-budget&status=blocked&cursor=c1");
  const isSearched = () => page.find("a", "Older").attributes.get("href")?.includes("gate-budget") ?? false;
  await until("it is shown", isSearched);
  assert.is(page.find("a", "Older").attributes.get("href"), "#/events?q=gate-budget&status=blocked&cursor=c2");
});

test("an event says why it failed, how long each stage took, and what was sent and answered", async () => {
  const { page, sent, answers } = await opened({}, "#/events/evt_1");
  await shows(page, "http-4xx: The receiver answered 400");
  for (const text of [
    "+2.5 s",
    "attempt",
    "number 1, failed",
    "2 times",
    "first byte",
    "38 ms",
    "[redacted]",
    "nginx",
    '"no": 1',
    "version 3",
    "0.02 of 250.00 EUR",
  ])
    assert.ok(page.text().includes(text), text);
  answers["GET /v1/events/evt_1/curl"] = "curl --include 'http://localhost:3000/'";
  await page.find("button", "curl").fire("click");
  await shows(page, "curl --include");
  await page.fill(page.find("form", "Replay"), { reason: "mended" });
  await shows(page, "The event is being replayed.");
  assert.equal(lastOf(sent, "POST /v1/events/evt_1/replay")?.body, { reason: "mended" });
  // The read behind it waits for what it changed.
  assert.match(lastOf(sent, "GET /v1/events/evt_1")?.query ?? "", /^\?after=\d{16}$/);
});

test("after the log was moved, which makes the position of an earlier change invalid, it reads without a position", async () => {
  const { page, sent, answers } = await opened({}, "#/events/evt_1");
  await shows(page, "payment.failed");
  await page.fill(page.find("form", "Replay"), { reason: "mended" });
  await shows(page, "The event is being replayed.");
  const refusal = Response.json({ code: "invalid-request", detail: "The log was moved." }, { status: 400 });
  const agents = answers["GET /v1/agents"];
  answers["GET /v1/agents"] = (query: string) => (query.includes("after=") ? refusal.clone() : Response.json(agents));
  await page.go("#/agents");
  await shows(page, "refund.*");
  const asked = sent.filter(({ call }) => call === "GET /v1/agents");
  assert.equal(
    asked.map(({ query }) => query.includes("after=")),
    [true, false],
  );
});

test("a refusal is shown and leaves the page as it was", async () => {
  const refusal = Response.json({ code: "already-decided", detail: "Somebody was faster." }, { status: 409 });
  const { page } = await opened({ "POST /v1/approvals/apr_1/approve": refusal }, "#/approvals/apr_1");
  await shows(page, "Refund 120 EUR");
  await page.fill(page.find("form", "Approve"), {});
  await shows(page, "Somebody was faster.");
  assert.ok(page.text().includes("Refund 120 EUR"));
});

test("people decide on the digest that they see", async () => {
  const { page, sent } = await opened({}, "#/approvals/apr_1");
  await shows(page, "https://till.example/refund");
  await page.fill(page.find("form", "Approve"), { comment: "fine" });
  await wasSent(sent, "POST /v1/approvals/apr_1/approve");
  assert.equal(lastOf(sent, "POST /v1/approvals/apr_1/approve")?.body, {
    digest: "d1",
    shown_digest: "s1",
    comment: "fine",
  });
  await page.fill(page.find("form", "Why not"), { comment: "too much" });
  await wasSent(sent, "POST /v1/approvals/apr_1/reject");
  assert.equal(lastOf(sent, "POST /v1/approvals/apr_1/reject")?.body, {
    digest: "d1",
    shown_digest: "s1",
    comment: "too much",
  });
});

test("an agent is suspended by one click, an endpoint tested and enabled by one each", async () => {
  const { page, sent } = await opened({}, "#/agents");
  await shows(page, "refund.*");
  await page.find("button", "Suspend").fire("click");
  await shows(page, "The agent is suspended");
  assert.equal(lastOf(sent, "POST /v1/agents/agt_1/suspend")?.body, { reason: "Suspended in the console." });
  await page.go("#/endpoints/end_1");
  await shows(page, "https://till.example/hook");
  await page.find("button", "Test").fire("click");
  await shows(page, "timeout: no answer");
  await page.find("button", "Enable").fire("click");
  await shows(page, "The endpoint is enabled");
  assert.ok(sent.some(({ call }) => call === "POST /v1/endpoints/end_1/enable"));
});

test("a bulk replay is planned first, and starts as planned", async () => {
  const { page, sent } = await opened({}, "#/replays?endpoint_id=end_1");
  await shows(page, "4 of 10");
  await page.fill(page.find("form", "Plan it"), { reason: "mended", rate_per_second: "50" });
  await shows(page, "Replay 12 events");
  const filter = { status: "failed", endpoint_id: "end_1" };
  const planned = { filter, rate_per_second: 50, reason: "mended" };
  assert.equal(lastOf(sent, "POST /v1/replays")?.body, { ...planned, dry_run: true });
  await page.find("button", "Replay 12 events").fire("click");
  await until("it is gone to", () => page.browser.location.hash === "#/replays/rpl_1");
  assert.equal(lastOf(sent, "POST /v1/replays")?.body, planned);
  await page.go(page.browser.location.hash);
  await shows(page, "The replay started.");
  await page.find("button", "Cancel").fire("click");
  await wasSent(sent, "POST /v1/replays/rpl_1/cancel");
});

test("a person can mark a step that a bundle leaves to people as undone", async () => {
  const { page, sent } = await opened({}, "#/bundles/bun_1");
  await shows(page, "the undo failed");
  for (const text of ["rollback incomplete", "compensation failed", "unreserve", "gate-content: not there"])
    assert.ok(page.text().includes(text), text);
  await page.fill(page.find("form", "How it was undone"), { comment: "by phone" });
  await wasSent(sent, "POST /v1/bundles/bun_1/steps/1/resolve");
  assert.equal(lastOf(sent, "POST /v1/bundles/bun_1/steps/1/resolve")?.body, { comment: "by phone" });
});

test("a running replay is refreshed, and an ended one is not", async () => {
  const { page, sent, answers } = await opened({}, "#/replays/rpl_1");
  await shows(page, "4 of 10");
  answers["GET /v1/replays/rpl_1"] = {
    ...(ANSWERS["GET /v1/replays/rpl_1"] as object),
    status: "done",
    done: 10,
    delivered: 9,
  };
  await page.later();
  await shows(page, "10 of 10");
  const before = sent.length;
  await page.later();
  assert.is(sent.length, before);
});

test("a refresh shows what has changed, says when it fails, and that it no longer does", async () => {
  const { page, answers } = await opened({}, "#/agents");
  await shows(page, "refund.*");
  answers["GET /v1/agents"] = Response.json({ code: "overloaded", detail: "Too much to do." }, { status: 503 });
  await page.byId("refresh").fire("click");
  await shows(page, "Too much to do.");
  assert.ok(page.text().includes("refund.*"));
  answers["GET /v1/agents"] = { data: [{ ...AGENT, status: "suspended" }], next_cursor: null };
  await page.byId("refresh").fire("click");
  await shows(page, "suspended");
  assert.not(page.text().includes("Too much to do."));
});

test("a blocked bundle names the gate, and a held one links to its approval", async () => {
  const denied = { gate: "content", outcome: "deny", code: "denied-by-rule", detail: "step 1: refused" };
  const verdict = { decision: "deny", policy: null, gates: [denied] };
  const { page, answers } = await opened(
    { "GET /v1/bundles/bun_1": { ...BUNDLE, status: "blocked", reason: undefined, left: [], verdict } },
    "#/bundles/bun_1",
  );
  await shows(page, "content: step 1: refused");
  answers["GET /v1/bundles/bun_1"] = { ...BUNDLE, status: "held", left: [], approval_id: "apr_1" };
  await page.go("#/bundles/bun_1");
  await shows(page, "Decide on it");
});

test("a viewer finds no button that changes anything", async () => {
  const { page } = await opened({ "GET /v1/auth/me": { ...ME, member: { ...ME.member, role: "viewer" } } });
  for (const place of PLACES) {
    await page.go(place);
    await isAt(page, place);
    for (const button of within(page.byId("content")).filter(({ tagName }) => tagName === "BUTTON"))
      assert.ok(
        ["Search", "Clear", "Show", "Repeat with curl"].includes(textOf(button)),
        `${place}: ${textOf(button)}`,
      );
  }
});

test("an unknown page and an unknown id are reported", async () => {
  const { page } = await opened({}, "#/__proto__/x");
  await shows(page, "The console has no page at this address.");
  await page.go("#/events/evt_%E0%A4%A");
  await shows(page, "There is nothing.");
});

test.run();
