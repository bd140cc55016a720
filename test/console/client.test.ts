import { suite } from "uvu";
import * as assert from "uvu/assert";
import { bindingOf } from "../../console/design/key-bindings.ts";
import { stateOf } from "../../console/design/states.ts";
import { pathOf, searchOf } from "../../console/src/api/call-address.ts";
import { Calls } from "../../console/src/api/calls.ts";
import { EarlyReads } from "../../console/src/api/early-reads.ts";
import { namedSentence } from "../../console/src/api/holder-words.ts";
import { KeptAnswers } from "../../console/src/api/kept-answers.ts";
import {
  firstPage,
  ROWS_MAX,
  refreshed,
  returned,
  WAITING_MAX,
  withAsked,
  withMore,
  withRow,
  withWaiting,
} from "../../console/src/api/list.ts";
import { ReadPositions } from "../../console/src/api/read-positions.ts";
import { frameOf, indicationOf } from "../../console/src/live/frames.ts";
import { costText, definitionOf, labelLines, undoText } from "../../console/src/pages/action-definition.ts";
import { sentFields } from "../../console/src/pages/approval-fields.ts";
import { bundleCost, refusingGate } from "../../console/src/pages/bundle-verdict.ts";
import { laneSummary, placedLanes } from "../../console/src/pages/chart-lanes.ts";
import { eventCost, isUnspent, settledText, spentText } from "../../console/src/pages/cost-text.ts";
import { stillWorstFirst, worstFirst } from "../../console/src/pages/endpoint-order.ts";
import { probeText, stateText, waitingMessage, waitParts } from "../../console/src/pages/endpoint-text.ts";
import {
  type EventPlan,
  eventPlanText,
  faultTexts,
  outcomeText,
  whyNotReplayable,
} from "../../console/src/pages/event-replay.ts";
import { eventStages } from "../../console/src/pages/event-stages.ts";
import { csvOf, ndjsonOf } from "../../console/src/pages/export-text.ts";
import { gateDetail, summaryText } from "../../console/src/pages/gate-words.ts";
import { message, plainMessage } from "../../console/src/pages/message.ts";
import { rangeStart } from "../../console/src/pages/ranges.ts";
import { rejectionOf } from "../../console/src/pages/rejection.ts";
import { planText, replayState, replayWord } from "../../console/src/pages/replay-text.ts";
import { scopeText } from "../../console/src/pages/scope.ts";
import { shownOf } from "../../console/src/pages/shown-of.ts";
import { eventState, whyOf } from "../../console/src/pages/why.ts";
import { addressOfOldLink, HOME, hrefOf, matched, placeOfUrl, safeReturn } from "../../console/src/shell/addresses.ts";

const test = suite("the console's client");

type Sent = { readonly path: string; readonly init: RequestInit };

const problem = (status: number, code: string): Response =>
  new Response(JSON.stringify({ status, code, title: code, detail: `${code}.` }), { status });

/** Calls whose answers are told one after another. */
const callsWith = (
  answers: (Response | Error)[],
  signInAgain = async () => false,
  early: (address: string) => Promise<Response> | null = () => null,
) => {
  const heard = { count: 0 };
  const sent: Sent[] = [];
  const behind: boolean[] = [];
  const calls = new Calls({
    fetch: async (path, init = {}) => {
      sent.push({ path: String(path), init });
      const answer = answers.shift() ?? new Error("no further answer");
      if (answer instanceof Error) throw answer;
      return answer;
    },
    early,
    heard: () => heard.count,
    member: () => "mem_a",
    sleep: async () => undefined,
    signInAgain,
    onBehind: (it) => void behind.push(it),
  });
  return { calls, sent, behind, heard };
};
const written = (position: string) => new Response("{}", { headers: { "countersign-position": position } });

test("a list to which the reader returns keeps its rows in place, and tells what came and what left", () => {
  const rows = (...ids: readonly string[]) => ids.map((id) => ({ id }));
  const keyOf = ({ id }: { readonly id: string }): string => id;
  const before = firstPage({ data: rows("d", "c", "b", "a"), next_cursor: "x" });
  const now = returned(before, { data: rows("e", "d", "b", "a"), next_cursor: "y" }, keyOf);
  assert.equal([now.rows.map(keyOf), now.waiting.map(keyOf), [...now.left]], [["d", "c", "b", "a"], ["e"], ["c"]]);
  const pushed = returned(before, { data: rows("f", "e", "d", "c"), next_cursor: "y" }, keyOf);
  assert.equal([pushed.waiting.map(keyOf), [...pushed.left]], [["f", "e"], []], "b and a are on the next page");
  const all = returned(
    firstPage({ data: rows("b", "a"), next_cursor: null }),
    { data: rows("a"), next_cursor: null },
    keyOf,
  );
  assert.equal([...all.left], ["b"]);
  assert.is(returned(before, { data: rows("z", "y", "x", "w"), next_cursor: "y" }, keyOf).hasGap, true);
});

test("what pages showed is kept up to a number, the newest used longest, and forgotten at once", () => {
  const kept = new KeptAnswers(2);
  kept.keep("a", 1);
  kept.keep("b", 2);
  assert.is(kept.of("a"), 1);
  kept.keep("c", 3);
  assert.equal([kept.of("a"), kept.of("b"), kept.of("c")], [1, null, 3]);
  kept.clear();
  assert.is(kept.of("a"), null);
});

test("a problem of a limit says when one may try again, whatever the call was for", async () => {
  const limited = (retryAfter: string) =>
    new Response(JSON.stringify({ status: 429, code: "rate-limited", title: "Too many", detail: "60 a minute." }), {
      status: 429,
      headers: { "retry-after": retryAfter },
    });
  const { calls } = callsWith([limited("32"), limited("372"), limited("soon"), problem(503, "overloaded")]);
  const detailOf = async (): Promise<string> => {
    const answer = await calls.send("POST", "/v1/approvals/apr_a/approve", {});
    return answer.ok ? "" : answer.problem.detail;
  };
  assert.is(await detailOf(), "60 a minute. Try again in 32 s.");
  assert.is(await detailOf(), "60 a minute. Try again in 6 min 12 s.");
  assert.is(await detailOf(), "60 a minute.");
  assert.is(await detailOf(), "overloaded.");
});

test("reads of the same at a time are one call, but not over a change that was heard of", async () => {
  const { calls, sent, heard } = callsWith([new Response("1"), new Response("2"), new Response("3")]);
  const [first, same] = [
    calls.read("/v1/events", { limit: 1, q: "a" }),
    calls.read("/v1/events", { q: "a", limit: 1 }),
  ];
  heard.count += 1;
  const later = calls.read("/v1/events", { limit: 1, q: "a" });
  assert.equal(await Promise.all([first, same, later]), [
    { ok: true, body: "1" },
    { ok: true, body: "1" },
    { ok: true, body: "2" },
  ]);
  assert.equal(await calls.read("/v1/events", { limit: 1, q: "a" }), { ok: true, body: "3" });
  assert.is(sent.length, 3);
});

test("an answer that was asked for early is taken once, and only if it is this member's", async () => {
  const asked: string[] = [];
  const answers: Readonly<Record<string, () => Response>> = {
    "/v1/ours": () => new Response("ours", { headers: { "countersign-member": "mem_a" } }),
    "/v1/other": () => new Response("other", { headers: { "countersign-member": "mem_b" } }),
    "/v1/nobody": () => new Response("nobody"),
    "/v1/refused": () => problem(401, "unauthenticated"),
  };
  const early = new EarlyReads(async (address) => {
    asked.push(String(address));
    const answer = answers[String(address)];
    if (answer === undefined) throw new Error("not connected");
    return answer();
  });
  for (const address of [...Object.keys(answers), "/v1/lost", "/v1/ours"]) early.begin(address)?.catch(() => undefined);
  assert.is(asked.length, 5, "each once");
  const again = Array.from({ length: 5 }, () => new Response("again"));
  const { calls } = callsWith(again, undefined, (address) => early.take(address));
  for (const [address, body] of [
    ["/v1/ours", "ours"],
    ["/v1/other", "again"],
    ["/v1/nobody", "again"],
    ["/v1/refused", "again"],
    ["/v1/lost", "again"],
    ["/v1/ours", "again"],
  ] as const)
    assert.equal(await calls.read(address), { ok: true, body }, address);
});

test("an early answer is not taken after one's own change, nor on another page", async () => {
  const early = new EarlyReads(async () => new Response("old", { headers: { "countersign-member": "mem_a" } }));
  void early.begin("/v1/a");
  const { calls } = callsWith([written("7"), new Response("new")], undefined, (address) => early.take(address));
  await calls.send("POST", "/v1/agents", {});
  assert.equal(await calls.read("/v1/a"), { ok: true, body: "new" });
  early.end();
  assert.is(early.take("/v1/a"), null);
  assert.is(early.begin("/v1/a"), null);
});

test("an early answer is not taken once something has changed, of which its taker would not hear", () => {
  const early = new EarlyReads(async () => new Response("old"));
  void early.begin("/v1/a");
  early.forget();
  assert.is(early.take("/v1/a"), null);
});

/** Reads whose answers come when the test says so. */
const readsWith = () => {
  const waiting = new Map<string, (position: string | null, status?: number) => void>();
  const reads = new ReadPositions(
    (address) =>
      new Promise((resolve) => {
        const member = { "countersign-member": "mem_a" };
        waiting.set(String(address), (position, status = 200) =>
          resolve(
            new Response("", {
              status,
              headers: position === null ? member : { ...member, "countersign-view-position": position },
            }),
          ),
        );
      }),
  );
  const answer = async (address: string, position: string | null, status?: number): Promise<void> => {
    waiting.get(address)?.(position, status);
    await new Promise(setImmediate);
  };
  return { reads, answer };
};
const LIMIT_MS = 1_000;

test("the stream begins at the lowest position that the reads of a page were answered with, once none is under way", async () => {
  const { reads, answer } = readsWith();
  for (const address of ["/v1/a", "/v1/b", "/v1/c", "/v1/d"]) void reads.fetch(address);
  let begins: string | null | undefined;
  void reads.lowest(LIMIT_MS).then((position) => {
    begins = position;
  });
  await answer("/v1/b", "log-0007");
  await answer("/v1/c", "log-0009");
  await answer("/v1/d", "log-0006", 404);
  assert.is(begins, undefined);
  await answer("/v1/a", "log-0008");
  assert.is(begins, "log-0006");
});

test("where the position of a read is unknown, or the read takes too long, everything is read anew", async () => {
  for (const [position, status] of [
    [null, 200],
    ["log-0007", 503],
  ] as const) {
    const { reads, answer } = readsWith();
    for (const address of ["/v1/a", "/v1/b"]) void reads.fetch(address);
    await answer("/v1/a", "log-0008");
    await answer("/v1/b", position, status);
    assert.is(await reads.lowest(LIMIT_MS), null);
  }
  const { reads, answer } = readsWith();
  for (const address of ["/v1/a", "/v1/b"]) void reads.fetch(address);
  await answer("/v1/a", "log-0008");
  assert.is(await reads.lowest(0), null);
  assert.is(await readsWith().reads.lowest(LIMIT_MS), null, "nothing was read");
});

test("what a visitor reads as well tells nothing of an account's views", async () => {
  const reads = new ReadPositions(async (address) =>
    String(address) === "/v1/open"
      ? new Response("")
      : new Response("", { headers: { "countersign-member": "mem_a", "countersign-view-position": "log-0008" } }),
  );
  for (const address of ["/v1/open", "/v1/a"]) await reads.fetch(address);
  assert.is(await reads.lowest(LIMIT_MS), "log-0008");
});

test("a change is no read", async () => {
  const { reads, answer } = readsWith();
  void reads.fetch("/v1/a");
  void reads.fetch("/v1/b", { method: "POST" });
  await answer("/v1/a", "log-0008");
  await answer("/v1/b", "log-0001");
  assert.is(await reads.lowest(LIMIT_MS), "log-0008");
});

test("a read after one's own write waits for the view, and says so meanwhile", async () => {
  const answers = [written("7"), problem(503, "view-behind"), new Response('{"a":1240.00}')];
  const { calls, sent, behind } = callsWith(answers);
  await calls.send("POST", "/v1/agents", { name: "a" });
  assert.equal(await calls.read("/v1/agents", { limit: 50, q: "" }), { ok: true, body: '{"a":1240.00}' });
  assert.equal(
    sent.map(({ path }) => path),
    ["/v1/agents", "/v1/agents?limit=50&after=7", "/v1/agents?limit=50&after=7"],
  );
  assert.equal(behind, [true, false]);
  for (const { init } of sent) {
    assert.equal([init.credentials, init.redirect], ["same-origin", "error"]);
    assert.is(new Headers(init.headers).get("countersign-member"), "mem_a");
  }
});

test("a view that stays behind, and a service that is not reached, are problems with words", async () => {
  const late = callsWith(Array.from({ length: 9 }, () => problem(503, "view-behind")));
  const answer = await late.calls.read("/v1/events");
  assert.is(answer.ok ? "" : answer.problem.code, "view-behind");
  assert.is(late.sent.length, 5);
  const gone = await callsWith([new Error("no route")]).calls.send("DELETE", "/v1/agents/a");
  assert.equal(gone.ok ? {} : gone.problem.code, "unreachable");
  const plain = await callsWith([new Response("<h1>", { status: 502 })]).calls.read("/v1/events");
  assert.is(plain.ok ? "" : plain.problem.detail, "The service answered 502.");
});

test("a position of a log before a move is forgotten", async () => {
  const { calls, sent } = callsWith([written("7"), problem(400, "invalid-request"), new Response("[]")]);
  await calls.send("POST", "/v1/agents", {});
  assert.ok((await calls.read("/v1/agents")).ok);
  assert.is(sent.at(-1)?.path, "/v1/agents");
});

test("a call whose session has ended is repeated once the same member is back, and only once", async () => {
  const { calls, sent } = callsWith([problem(401, "unauthenticated"), new Response("{}")], async () => true);
  assert.ok((await calls.send("POST", "/v1/agents", { name: "a" })).ok);
  assert.is(sent[0]?.init.body, sent[1]?.init.body);
  const refused = callsWith([problem(401, "unauthenticated"), problem(401, "unauthenticated")], async () => true);
  assert.not((await refused.calls.read("/v1/events")).ok);
  assert.is(refused.sent.length, 2);
});

test("placeholders and queries are encoded, so that a name from elsewhere is no path", () => {
  assert.is(pathOf("/v1/actions/{name}", { name: "../auth?x=#" }), "/v1/actions/..%2Fauth%3Fx%3D%23");
  assert.is(searchOf({ q: "a&b=c", limit: 3, none: undefined }), "?q=a%26b%3Dc&limit=3");
});

type Row = { readonly id: string; readonly status: string };
const keyOf = ({ id }: Row): string => id;
const page = (ids: string, cursor: string | null = "next") => ({
  data: [...ids].map((id) => ({ id, status: "queued" })),
  next_cursor: cursor,
});
const ids = (rows: readonly Row[]): string => rows.map(keyOf).join("");

test("rows change in place and never move; new ones wait until they are asked for", () => {
  const before = firstPage(page("cba"));
  const after = refreshed(
    before,
    {
      data: [
        { id: "d", status: "new" },
        { id: "b", status: "delivered" },
      ],
      next_cursor: null,
    },
    keyOf,
  );
  assert.is(ids(after.rows), "cba");
  assert.is(after.rows[1]?.status, "delivered");
  assert.is(ids(after.waiting), "d");
  assert.is(after.cursor, "next", "the pages that follow are still those of the list that is shown");
  assert.is(ids(refreshed(after, page("ed"), keyOf).waiting), "ed");
  const left = withRow(after, { id: "a", status: "failed" }, { keyOf, matches: false });
  assert.equal([ids(left.rows), [...left.left]], ["cba", ["a"]]);
  const shown = withWaiting(left, keyOf);
  assert.equal([ids(shown.rows), shown.waiting.length, shown.left.size], ["dcb", 0, 0]);
});

test("if more rows come than are read, those between are not passed over in silence", () => {
  const before = firstPage(page("dcba"));
  const first = refreshed(before, page("gfe"), keyOf);
  assert.equal([ids(first.waiting), first.hasGap], ["gfe", true]);
  const second = refreshed(first, page("kji"), keyOf);
  assert.equal(
    [ids(second.waiting), second.hasGap],
    ["kji", true],
    "what lies below the gap is read anew, and not kept",
  );
  assert.equal(refreshed(before, page("gfe", null), keyOf).hasGap, false, "a page that none follows is whole");
  const joined = refreshed(before, page("fed"), keyOf);
  assert.equal([ids(joined.waiting), joined.hasGap], ["fe", false]);
  const many = Array.from({ length: 40 }, (_, nth) => ({ id: `${nth}`, status: "" }));
  let state = before;
  for (let at = 39; at > 0; at -= 1)
    state = refreshed(state, { data: many.slice(at - 1, at + 1), next_cursor: null }, keyOf);
  assert.equal([state.waiting.length, state.hasGap], [40, false]);
  assert.is(WAITING_MAX, 500);
});

test("rows that are asked for by their keys change in place, and those that are gone are marked", () => {
  const state = withAsked(firstPage(page("cba")), ["c", "a"], {
    ...{ rows: [{ id: "a", status: "failed" }], keyOf, matches: () => true },
  });
  assert.equal([ids(state.rows), state.rows[2]?.status, [...state.left]], ["cba", "failed", ["c"]]);
});

test("further pages add no row twice, and a tab keeps only so many", () => {
  const list = withMore(firstPage(page("dc")), page("cb", null), keyOf);
  assert.equal([ids(list.rows), list.cursor], ["dcb", null]);
  const many = {
    data: Array.from({ length: ROWS_MAX + 5 }, (_, at) => ({ id: `${at}`, status: "" })),
    next_cursor: "x",
  };
  const full = withMore(firstPage(page("a")), many, keyOf);
  assert.equal([full.rows.length, full.cursor], [ROWS_MAX, null]);
});

test("a frame is read, and what is no frame is nothing", () => {
  assert.equal(frameOf('{"topic":"events","id":"evt_a","status":"failed","position":"9"}'), {
    ...{ topic: "events", id: "evt_a", status: "failed", position: "9" },
  });
  assert.equal(frameOf('{"topic":"events","changed":12}'), { topic: "events", changed: 12 });
  assert.equal(frameOf('{"topic":"events","changed":null}'), { topic: "events", changed: null });
  for (const text of ["", "{", "[]", "null", '{"topic":1}', '{"topic":"events"}']) assert.is(frameOf(text), null, text);
});

test("the indicator says what matters most, and a short gap is no news", () => {
  const facts = { now: 10_000, isBehind: false, hasWaiting: false };
  assert.is(indicationOf({ isLive: true, since: 0 }, facts), "live");
  assert.is(indicationOf({ isLive: false, since: 7_000 }, facts), "live");
  assert.is(indicationOf({ isLive: false, since: 6_500 }, { ...facts, hasWaiting: true }), "lost");
  assert.is(indicationOf({ isLive: true, since: 0 }, { ...facts, hasWaiting: true }), "paused");
  assert.is(indicationOf({ isLive: true, since: 0 }, { ...facts, hasWaiting: true, isBehind: true }), "behind");
});

test("addresses name pages, filters survive, and a form leads back to this console only", () => {
  assert.equal(matched("/events/{id}", "/events/evt_a%2Fb"), { id: "evt_a/b" });
  for (const path of ["/events", "/events/", "/events/a/b", "/events/%E0%A4%A"])
    assert.is(matched("/events/{id}", path), null, path);
  assert.equal(placeOfUrl(new URL("https://x/events/?status=failed")), {
    path: "/events",
    query: { status: "failed" },
  });
  assert.is(hrefOf("/events", { status: "failed", q: "", at: undefined }), "/events?status=failed");
  assert.is(addressOfOldLink("#/events/evt_a?x=1"), "/events/evt_a?x=1");
  assert.is(addressOfOldLink("#a-token"), null);
  for (const to of ["//evil.example", "/\\evil.example", "https://evil.example", "/sign-in?to=x", undefined])
    assert.is(safeReturn(to), HOME, String(to));
  assert.is(safeReturn("/approvals/apr_a?for=all"), "/approvals/apr_a?for=all");
});

test("a range begins on a whole minute, and another text is no range", () => {
  assert.is(rangeStart("1h", Date.parse("2026-11-17T13:08:40Z")), "2026-11-17T12:08:00.000Z");
  assert.is(rangeStart("constructor", 0), undefined);
});

const EVENT = { status: "delivered", verdict: { gates: [] }, failure: null, duplicates: 0, delivery_id_reused: 0 };

test("every event but a plain delivery says why it is where it is", () => {
  const deny = { gate: "budget", outcome: "deny", code: "over", detail: "0.80 would pass 18.00" };
  assert.is(whyOf(EVENT), "");
  assert.is(whyOf({ ...EVENT, duplicates: 1 }), "The same delivery arrived again; nothing was sent twice");
  assert.is(whyOf({ ...EVENT, status: "blocked", verdict: { gates: [deny] } }), "Budget: 0.80 would pass 18.00");
  assert.is(whyOf({ ...EVENT, status: "failed", failure: { kind: "dns", detail: "no such host" } }), "No such host");
  for (const status of ["recorded", "queued", "rejected", "expired", "cancelled", "retrying"])
    assert.ok(whyOf({ ...EVENT, status }) !== "", status);
});

test("a delivery that took more than one attempt or a person's approval says so", () => {
  assert.is(whyOf({ ...EVENT, attempt_count: 1, approval_id: null }), "");
  assert.is(whyOf({ ...EVENT, attempt_count: 2, approval_id: "apr_a" }), "Approved by a person; attempt 2 succeeded");
});

test("a step that was sent says what the rollback of its bundle made of it, in its state as well", () => {
  const told = (rollback: string | null) => {
    const event = { ...EVENT, status: "delivered", bundle: { rollback } };
    return [...Object.values(eventState(event)), whyOf(event)];
  };
  assert.equal(told(null), ["delivered", "Delivered", ""]);
  assert.equal(told("undone"), ["compensated", "Delivered, undone", "Undone with its bundle"]);
  assert.equal(told("undone_by_hand"), ["compensated", "Delivered, undone", "Undone by hand"]);
  assert.equal(told("left"), ["compensation_failed", "Delivered, needs manual undo", "Its bundle could not undo it"]);
  const unknown = { ...EVENT, status: "failed", failure: { kind: "socket", detail: "other side closed" } };
  const left = { ...unknown, bundle: { rollback: "left" } };
  assert.is(eventState(left).word, "Failed, needs manual undo", "it may have been done");
  assert.is(whyOf(left), "Other side closed; its bundle could not undo it");
});

test("the state of an event begins with its status, by which a list is filtered, whatever came later", () => {
  const payload = { erased_at: "2026-01-02T00:00:00.000Z" };
  for (const status of ["delivered", "failed"])
    for (const rollback of [null, "undone", "undone_by_hand", "left"])
      for (const later of [{}, { payload }])
        assert.ok(
          eventState({ status, bundle: { rollback }, ...later }).word.startsWith(stateOf(status).word),
          `${status} ${rollback}`,
        );
  assert.equal(eventState({ status: "delivered", payload }), { value: "erased", word: "Delivered, payload erased" });
});

test("a rejection is told with its person and their words, as far as the reader may see them", () => {
  const vote = { member_id: "mem_a", decision: "reject", comment: "Ask the customer first" };
  const rejected = { ...EVENT, status: "rejected" };
  const votes = [{ ...vote, decision: "approve", comment: "Fine" }, vote];
  assert.is(
    whyOf(rejected, { rejected: rejectionOf(votes, () => "ana@shop.example") }),
    "It was rejected by ana@shop.example: “Ask the customer first”",
  );
  const hidden = [{ ...vote, comment: null }];
  assert.is(
    rejectionOf(hidden, () => null),
    "A person rejected it",
  );
  assert.is(whyOf(rejected), "A person rejected it");
  assert.is(whyOf({ ...rejected, end_reason: "Wrong customer" }), "A person rejected it: “Wrong customer”");
  const cancelled = { ...rejected, status: "cancelled", end_reason: "The agent was suspended: Under review" };
  assert.is(whyOf(cancelled), "The agent was suspended: Under review");
  assert.is(whyOf({ ...cancelled, end_reason: null }), "It was cancelled before it was sent");
});

const denial = (gate: string, code: string, detail: string) => ({ gate, outcome: "deny", code, detail });

test("a gate's sums are euros, and a name in a summary is left as it was written", () => {
  const budget = { ...denial("budget", "ok", "124.50 of 4000.00 EUR used today, this one costs 120.00 EUR") };
  assert.is(gateDetail({ ...budget, outcome: "allow" }), "€124.50 + €120.00 of €4,000.00");
  assert.is(gateDetail(budget), "€120.00 would pass €4,000.00 (€124.50 is used)");
  assert.is(summaryText('Agent "a, 5.00 EUR" asks for b, 1240.00 EUR'), 'Agent "a, 5.00 EUR" asks for b, €1,240.00');
  const policy = { id: "pol_a", version: 2 };
  const gates = [{ ...budget, outcome: "allow" }, budget];
  assert.equal(refusingGate({ gates, policy }), { gate: budget, policy });
  assert.is(refusingGate(null), null);
  const ofSteps = { ...budget, detail: "step 0: the cost is not known: step 11: no rule" };
  assert.is(
    refusingGate({ gates: [ofSteps], policy })?.gate.detail,
    "step 1: the cost is not known: step 12: no rule",
    "people count steps from one",
  );
});

test("moments become stretches: a hold lasts until the decision, and a pause until the attempt", () => {
  const at = (s: number): string => new Date(s * 1_000).toISOString();
  const stages = eventStages(
    [
      { stage: "received", at: at(0) },
      { stage: "authenticated", at: at(0) },
      { stage: "gated", at: at(1) },
      { stage: "held", at: at(1), reason: "needs a person" },
      { stage: "approved", at: at(373) },
      { stage: "attempt", at: at(374), number: 1, outcome: "failed", duration_ms: 800, status_code: 503 },
      { stage: "attempt", at: at(380), number: 2, outcome: "running" },
    ],
    390_000,
  );
  assert.equal(
    stages.map(({ name, start, end, isWait }) => [name, start, end, isWait]),
    [
      ["Received and authenticated", 0, 0, false],
      ["Gates", 0, 1_000, false],
      ["Held for approval", 1_000, 373_000, true],
      ["Approved", 373_000, 373_000, false],
      ["Wait before attempt 1", 373_000, 374_000, true],
      ["Attempt 1", 374_000, 374_800, false],
      ["Wait before attempt 2", 374_800, 380_000, true],
      ["Attempt 2", 380_000, 390_000, false],
    ],
  );
  assert.equal(eventStages([], 0), []);
});

test("after an event's end nothing is under way until it is replayed, and a repeat is a moment", () => {
  const at = (s: number): string => new Date(s * 1_000).toISOString();
  const stages = eventStages(
    [
      { stage: "received", at: at(0) },
      { stage: "attempt", at: at(0), number: 1, outcome: "failed", duration_ms: 1_000, status_code: 500 },
      { stage: "failed", at: at(1) },
      { stage: "replayed", at: at(63) },
      { stage: "attempt", at: at(64), number: 2, outcome: "succeeded", duration_ms: 1_000, status_code: 200 },
      { stage: "delivered", at: at(65) },
      { stage: "duplicate", at: at(70) },
    ],
    0,
  );
  assert.equal(
    stages.map(({ name, start, end, isWait, isMoment }) => [
      name,
      start,
      end,
      isWait ? "wait" : isMoment ? "moment" : "",
    ]),
    [
      ["Attempt 1", 0, 1_000, ""],
      ["Failed", 1_000, 1_000, "moment"],
      ["Nothing under way", 1_000, 63_000, "wait"],
      ["Replayed", 63_000, 63_000, "moment"],
      ["Wait before attempt 2", 63_000, 64_000, "wait"],
      ["Attempt 2", 64_000, 65_000, ""],
      ["Delivered", 65_000, 65_000, "moment"],
      ["Nothing under way", 65_000, 70_000, "wait"],
      ["Duplicate", 70_000, 70_000, "moment"],
    ],
  );
});

test("stages that were left out are a stretch of their own, and not a wait before the next attempt", () => {
  const at = (s: number): string => new Date(s * 1_000).toISOString();
  const attempt = (number: number, s: number) =>
    ({ stage: "attempt", at: at(s), number, outcome: "failed", duration_ms: 1_000, status_code: 500 }) as const;
  const told = [
    { stage: "received", at: at(0) },
    ...Array.from({ length: 9 }, (_, nth) => attempt(nth + 1, nth)),
    attempt(21, 100),
    attempt(22, 101),
  ];
  assert.equal(
    eventStages(told, 0, 11)
      .slice(-3)
      .map(({ name, start, end }) => [name, start, end]),
    [
      ["11 stages not shown", 9_000, 100_000],
      ["Attempt 21", 100_000, 101_000],
      ["Attempt 22", 101_000, 102_000],
    ],
  );
  assert.is(eventStages(told, 0).at(-3)?.name, "Wait before attempt 21");
});

test("a cell that a spreadsheet would calculate is made a text, and quotes are doubled", () => {
  const columns = [
    { name: "name", of: ({ name }: { readonly name: string }) => name },
    { name: "n", of: () => -2 },
    { name: "none", of: () => null },
  ];
  const cells = (name: string): string => csvOf([{ name }], columns).split("\r\n")[1] ?? "";
  for (const first of ["=", "+", "-", "@", "\t"]) assert.is(cells(`${first}1`), `'${first}1,-2,`);
  assert.is(cells("\r1"), `"'\r1",-2,`);
  assert.is(cells('a "b", c'), '"a ""b"", c",-2,');
  assert.is(cells("a=1"), "a=1,-2,");
  assert.is(csvOf([], columns), "name,n,none\r\n");
  assert.is(ndjsonOf([{ a: "\n" }, 2]), '{"a":"\\n"}\n2\n');
});

test("the plan of a selection says what is sent, what waits, and why the others are not sent", () => {
  const plan = (status: string, more: Partial<EventPlan> = {}): EventPlan => ({
    ...{ event_id: "evt_1", status, skipped: null, waiting: null },
    ...more,
  });
  const text = (...plans: readonly EventPlan[]): string =>
    eventPlanText(plans, (id) => (id === "end_1" ? "app" : null));
  const open = { endpoint_id: "end_1", reason: "circuit-open" };
  const disabled = { endpoint_id: "end_1", reason: "endpoint-disabled" };
  assert.is(text(plan("failed")), "Sends 1 event now.");
  assert.is(
    text(
      ...[plan("failed"), plan("blocked"), plan("delivered", { skipped: "changed" })],
      ...[plan("held", { skipped: "changed" }), plan("delivered", { skipped: "changed" })],
      ...[plan("failed", { skipped: "endpoint-disabled" }), plan("failed", { skipped: "bundle-step" })],
    ),
    "Sends 1 event now. 1 refused event passes the gates again. " +
      "Skips 2: delivered; 1: held; 1: the endpoint is disabled; 1: a step of a bundle is not sent alone.",
  );
  assert.is(
    text(plan("failed", { waiting: open }), plan("failed", { waiting: open })),
    "2 events are tried once and, if that fails, wait until app answers.",
  );
  assert.is(
    text(plan("blocked", { waiting: disabled }), plan("blocked")),
    "2 refused events pass the gates again. 1 event waits until app is enabled.",
  );
  assert.is(
    text(plan("failed", { skipped: "endpoint-disabled" })),
    "Sends nothing. Skips 1: the endpoint is disabled.",
  );
});

test("only failed and refused events are replayed, and each other one says why it is not", () => {
  const why = (status: string, bundle: object | null = null) => whyNotReplayable({ status, bundle });
  assert.equal([why("failed"), why("blocked")], [null, null]);
  assert.is(why("failed", {}), "This event is a step of a bundle, and is not sent alone.");
  assert.is(why("rejected"), "This event was rejected. Its sender can send it as a new event.");
  assert.is(why("cancelled"), "This event was cancelled. Its sender can send it as a new event.");
  assert.is(why("expired"), "This event has expired. Its sender can send it as a new event.");
  assert.is(why("held"), "This event is held: approve or reject it.");
  assert.is(why("retrying"), "This event is still on its way.");
});

test("the outcome of a replay counts what was sent and what was not, and tells equal reasons once", () => {
  const sent = { name: "order.paid", status: "queued", fault: "" };
  const left = (fault: string) => ({ name: "order.late", status: null, fault });
  assert.is(outcomeText([sent]), "1 event is on its way again.");
  const outcomes = [sent, sent, { ...sent, status: "held" }, left("No."), left("No."), left("Never.")];
  assert.is(
    outcomeText(outcomes),
    "2 events are on their way again. 1 is held until a person decides. 3 were not sent.",
  );
  assert.equal(faultTexts(outcomes), ["2 events: No.", "order.late: Never."]);
  assert.is(outcomeText([left("No.")]), "1 event was not sent.");
  const recorded = { ...sent, status: "recorded" };
  assert.is(outcomeText([recorded]), "1 event has no endpoint, so it was only recorded.");
});

test("each lane has its own scale, and one failure is seen beside thousands of deliveries", () => {
  const lane = (name: string, values: (number | null)[], colour: "area" | "c-fail") => ({
    name,
    values,
    colour,
    heightPx: 30,
  });
  const [many, few] = placedLanes(
    [lane("Delivered", [0, 4_000], "area"), lane("Failed", [1, null], "c-fail")],
    10,
    100,
  );
  assert.equal([many?.most, few?.most], [4_000, 1]);
  assert.equal([many?.bars[0]?.height, few?.bars[0]?.height], [30, 30]);
  assert.equal(few?.bars.length, 1, "nothing is drawn where nothing is known");
  assert.is(placedLanes([lane("Failed", [1, 10_000], "c-fail")], 0, 100)[0]?.bars[0]?.height, 2);
  assert.is(laneSummary(lane("Failed", [0, 19], "c-fail"), String), "Failed peaks at 19.");
  assert.is(laneSummary(lane("Failed", [], "c-fail"), String), "Failed: none.");
});

test("an approver reads every field to its end, with the digits that were sent", () => {
  const { rows, isCut } = sentFields(
    '{"id":"apr_a","payload":{"amount":1240.00,"customer_id":"c","lines":[{"sku":"R3"}],"none":{},"sql":"a\\nb"},"digest":"x"}',
  );
  assert.equal(
    rows.map(({ pointer, label, text }) => [pointer, label, text]),
    [
      ["/amount", "amount", "1240.00"],
      ["/customer_id", "customer id", "c"],
      ["/lines/0/sku", "lines › 1 › sku", "R3"],
      ["/none", "none", "{}"],
      ["/sql", "sql", "a\nb"],
    ],
  );
  assert.not(isCut);
  assert.ok(sentFields(`{"payload":{"a":"${"x".repeat(70_000)}"}}`).isCut);
  assert.equal(sentFields("no JSON").rows, []);
});

test("a replay has the tick only if all was delivered, and says what was skipped and what waits", () => {
  const replay = { status: "done", total: 18, done: 18, delivered: 12, failed: 4, skipped: 2, waiting: 0 } as const;
  assert.is(replayWord(replay), "Finished: 12 delivered, 4 failed, 2 skipped");
  assert.is(replayState(replay), "failed");
  assert.is(replayState({ ...replay, delivered: 16, failed: 0 }), "recorded");
  assert.is(replayState({ ...replay, delivered: 18, failed: 0, skipped: 0 }), "delivered");
  assert.is(replayState({ ...replay, status: "running" }), "running");
  assert.is(
    planText({ count: 18, waiting: 5, skipped: [{ reason: "endpoint-disabled", count: 2 }] }, [
      { name: "erp-bridge", reason: "circuit-open", count: 5 },
    ]),
    "Sends 13 events now. 5 wait until erp-bridge answers. Skips 2: the endpoint is disabled.",
  );
  const one = [{ name: "app", reason: "circuit-open", count: 1 }];
  assert.is(planText({ count: 1, waiting: 1, skipped: [] }, one), "Sends 0 events now. 1 waits until app answers.");
});

test("a form of an action becomes its definition; what cannot be read is told at its field", () => {
  const fields = { endpoint_id: "end_1", reversibility: "compensable", compensation: "order.cancel" };
  const labels = "/customer/name: Customer\n\n/a:b: Order: number\n";
  const cost = { cost: "field", pointer: "amount", scale: "0.01", default_eur: "2", numeric_text: "yes" };
  const made = definitionOf({ ...fields, ...cost, labels, title: "Refund {/amount|eur}", schema: '{"type":"object"}' });
  assert.equal(made, {
    ok: true,
    body: {
      ...fields,
      cost: { pointer: "amount", scale: 0.01, default_eur: 2, numeric_text: true },
      schema: { type: "object" },
      title: "Refund {/amount|eur}",
      labels: { "/customer/name": "Customer", "/a:b: Order": "number" },
    },
  });
  assert.is(labelLines({ "/a": "A", "/b/c": "B" }), "/a: A\n/b/c: B");
  const fixed = definitionOf({ ...fields, cost: "fixed", fixed_eur: "0.5", pointer: "left from before" });
  assert.equal(fixed.ok && fixed.body.cost, { fixed_eur: 0.5 });
  for (const [wrong, path] of [
    [{ labels: "Customer" }, "/labels"],
    [{ schema: "{" }, "/schema"],
  ] as const) {
    const refused = definitionOf({ ...fields, cost: "none", ...wrong });
    assert.is(refused.ok ? "" : refused.problem.errors?.[0]?.path, path);
  }
});

test("undo, cost and scope are told in words", () => {
  assert.is(undoText({ reversibility: "irreversible" }), "It cannot be undone");
  assert.is(undoText({ reversibility: "compensable", compensation: "order.cancel" }), "Undone by order.cancel");
  assert.is(undoText({ reversibility: "reversible" }), "There is nothing to undo");
  assert.is(costText(undefined), "No cost");
  assert.is(costText({ fixed_eur: 1 }), "€1.00 each");
  assert.is(costText({ pointer: "amount", scale: 0.01, default_eur: 2 }), "amount, times €0.01; €2.00 without it");
  assert.is(scopeText(["*"]), "every action");
  assert.is(scopeText(["refund.*", "order.read"]), "all that begin with refund., order.read");
});

test("a list of which rows no longer match never says that more match than there are", () => {
  assert.is(shownOf({ shown: 50, left: 0, total: 204 }), "50 of 204");
  assert.is(shownOf({ shown: 50, left: 0, total: 10_000 }), "50 of 10,000+");
  assert.is(shownOf({ shown: 15, left: 8, total: 7 }), "7 of 7; 8 rows no longer match");
  assert.is(shownOf({ shown: 7, left: 0, total: 6 }), "6 of 6; 1 row no longer matches", "it is not known yet which");
});

test("endpoints are shown the worst first, and none moves while it is on the screen", () => {
  const endpoint = (id: string, state: string, queued = 0) => ({ id, health: { state, queued } });
  const all = [endpoint("a", "healthy"), endpoint("b", "degraded"), endpoint("c", "open", 2), endpoint("d", "open", 9)];
  const ids = (of: readonly { readonly id: string }[]): string => of.map(({ id }) => id).join("");
  assert.is(ids(worstFirst(all)), "dcba");
  const seen = new Map();
  assert.is(ids(stillWorstFirst(all, seen)), "dcba");
  const changed = [endpoint("a", "open", 50), ...all.slice(1), endpoint("e", "disabled")];
  assert.is(ids(stillWorstFirst(changed, seen)), "dceba");
});

test("of endpoints in one state, that with the lowest success is first and those without a delivery are last", () => {
  const endpoint = (id: string, rate: number | null, queued = 0, state = "healthy") => {
    return { id, health: { state, success_rate_1h: rate, queued } };
  };
  const all = [
    ...[endpoint("new", null, 3), endpoint("a", 0.959), endpoint("b", 0.666), endpoint("c", 0.475), endpoint("d", 1)],
    ...[endpoint("e", 0.475, 7), endpoint("f", 1, 0, "open")],
  ];
  assert.equal(
    worstFirst(all).map(({ id }) => id),
    ["f", "e", "c", "b", "a", "d", "new"],
  );
});

test("an open circuit says when it is tried next, and never a time that has passed", () => {
  const now = Date.parse("2026-11-17T14:02:00.000Z");
  const open = { state: "open", queued: 31, consecutive_failures: 10, next_probe_at: "2026-11-17T14:02:42.000Z" };
  assert.is(
    stateText(open, now),
    "10 failures in a row. New events wait and are kept; the next probe is in 42 s, and the first success resumes delivery.",
  );
  assert.is(probeText(open, now + 60_000), "now");
  assert.is(probeText({ ...open, queued: 0 }, now), "No probe needed until an event arrives");
  assert.is(probeText({ state: "healthy" }, now), "–");
  assert.is(stateText({ state: "healthy" }, now), null);
});

test("what waits for a stopped endpoint names it, says since when, and what ends the wait", () => {
  const now = Date.parse("2026-11-17T14:02:00.000Z");
  const clock = { zone: "UTC", now };
  const since = "2026-11-17T14:01:00.000Z";
  const open = { state: "open", queued: 31, since, next_probe_at: "2026-11-17T14:02:42.000Z" };
  const stopped = { id: "end_a", name: "erp-bridge", health: open };
  const said = (parts: Parameters<typeof message>) => plainMessage(message(...parts), clock);
  assert.is(
    said(["Queued.", ...waitParts(stopped, now)]),
    "Queued. It waits for erp-bridge, whose circuit has been open since 14:01:00. The next probe is in 42 s, and the first success resumes delivery.",
  );
  const disabled = { ...stopped, health: { ...open, state: "disabled", next_probe_at: null } };
  assert.is(
    said(["Queued.", ...waitParts(disabled, now)]),
    "Queued. It waits for erp-bridge, which has been disabled since 14:01:00. It is sent once the endpoint is enabled.",
  );
  for (const status of ["queued", "retrying"])
    assert.is(whyOf({ ...EVENT, status }, { stopped }), "It waits for erp-bridge, whose circuit is open");
  const waiting = waitingMessage(stopped);
  assert.ok(waiting !== null);
  assert.is(plainMessage(waiting, clock), "31 events wait. The circuit has been open since 14:01:00.");
  assert.is(waitingMessage({ id: "end_a", health: { state: "degraded", queued: 3 } }), null);
});

test("a sentence names those who can, at most three and how many others", () => {
  const text = "Only an admin or an owner can do this";
  assert.is(namedSentence(text, []), `${text}.`);
  assert.is(namedSentence(text, ["ana"]), `${text}: ana.`);
  assert.is(namedSentence(text, ["ana", "ben"]), `${text}: ana and ben.`);
  assert.is(namedSentence(text, ["ana", "ben", "cy", "dev"]), `${text}: ana, ben, cy and dev.`);
  assert.is(namedSentence(text, ["ana", "ben", "cy", "dev", "eve"]), `${text}: ana, ben, cy and 2 others.`);
});

test("a cost that no policy sets is no cost, and spent and reserved are told apart", () => {
  const costing = { status: "delivered", cost_eur: null, verdict: { gates: [] } };
  assert.is(eventCost(costing), "No cost");
  assert.is(eventCost({ ...costing, cost_eur: 0 }), "€0.00");
  assert.is(eventCost({ ...costing, cost_eur: 1_240 }), "€1,240.00");
  assert.is(eventCost({ ...costing, status: "blocked" }), "–");
  const unknown = denial("cost", "cost-unknown", "the payload has no amount");
  assert.is(eventCost({ ...costing, status: "blocked", verdict: { gates: [unknown] } }), "Cost unknown");
  const refused = { cost_eur: null, verdict: { gates: [denial("cost", "cost-unknown", "step 0: no amount")] } };
  assert.is(bundleCost(refused), "Cost unknown");
  assert.is(bundleCost({ ...refused, verdict: { gates: [] } }), "No cost");
  assert.is(settledText(132, 55), "€132.00 in 55 requests that have ended, those without a cost among them");
  assert.is(settledText(0, 1), "€0.00 in 1 request that has ended");
  assert.is(spentText(4, 0), "€4.00 spent");
  assert.is(spentText(612.4, 1_240), "€612.40 spent, €1,240.00 reserved");
});

test("what was never sent would cost something, and what failed on the way has spent what its ledger says", () => {
  const costing = { cost_eur: 5, attempt_count: 0, verdict: { gates: [] } };
  for (const status of ["blocked", "held"]) {
    assert.is(eventCost({ ...costing, status }), "€5.00");
    assert.ok(isUnspent({ ...costing, status }), status);
  }
  assert.not(isUnspent({ ...costing, status: "held", attempt_count: 3 }), "the replay of one that failed");
  const failed = { ...costing, status: "failed", attempt_count: 3 };
  assert.equal([eventCost(failed), isUnspent(failed)], ["€5.00", false], "it may have been done");
  assert.not(isUnspent({ ...costing, status: "queued" }));
  const givenBack = { ...failed, cost_eur: 0 };
  assert.equal([eventCost(givenBack), isUnspent(givenBack)], ["€0.00", false], "it did not reach its receiver");
});

test("the second key of a pair is never taken by a page that knows it alone", () => {
  const acts: string[] = [];
  const does = (what: string) => () => void acts.push(what);
  const layers = [{ "g t": does("agents"), t: does("frame") }, { t: does("table") }];
  bindingOf(layers, "g", "t")?.();
  bindingOf(layers, "", "t")?.();
  bindingOf(layers, "x", "t")?.();
  assert.equal(acts, ["agents", "table", "table"]);
  assert.is(bindingOf(layers, "g", "x"), null);
});

test.run();
