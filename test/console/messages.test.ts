import { suite } from "uvu";
import * as assert from "uvu/assert";
import * as format from "../../console/design/format.ts";
import { nextAttemptText } from "../../console/src/live/frames.ts";
import { changesBetween } from "../../console/src/pages/approval-fields.ts";
import * as decision from "../../console/src/pages/decision-words.ts";
import { rotationText, stateText } from "../../console/src/pages/endpoint-text.ts";
import { type Asked, refusalOf } from "../../console/src/pages/gate-words.ts";
import { type Message, plainMessage } from "../../console/src/pages/message.ts";
import { signatureRefusal } from "../../console/src/pages/refusals.ts";
import { replayText } from "../../console/src/pages/replay-text.ts";
import { scheduleIn, scheduleText } from "../../console/src/pages/retry-schedule.ts";
import { undoMessage } from "../../console/src/pages/undo-words.ts";

/** The messages that `messages-browser.test.ts` brings about; here with all their words, from facts that are given. */
const test = suite("the messages of the console");

const NOW = Date.parse("2026-11-17T13:10:00Z");
const CLOCK = { zone: "Europe/Berlin", now: NOW };
const said = (message: Message): string => plainMessage(message, CLOCK);

const ASKED: Asked = {
  ...{ from: "refund-bot", what: "payout.send", run: "ticket-88213", zone: "Europe/Berlin" },
  ...{ at: "2026-11-17T13:09:58Z", now: NOW, scope: ["refund.*"] },
  rules: [
    { name: "no refunds over 2,000", when: "cost_eur > 2000.0" },
    { name: "another", when: "true" },
  ],
};
const refused = (gate: string, code: string, detail: string, asked: Partial<Asked> = {}): string =>
  said(refusalOf({ gate, outcome: "deny", code, detail }, { ...ASKED, ...asked }));

const REQUEST: decision.Decided = {
  ...{ status: "consumed", decided_at: "2026-11-17T13:09:40Z", expires_at: "2026-11-17T13:02:11Z" },
  requested_by: { kind: "agent", name: "refund-bot" },
  votes: [],
};
const FACTS = { reader: "mem_me", wasOpen: true, isLate: false, now: NOW, changes: [], delivered: null };
const outcome = (it: Partial<decision.Decided>, facts: Partial<decision.OutcomeFacts> = {}): string =>
  said(decision.outcomeMessage({ ...REQUEST, ...it }, { ...FACTS, ...facts }));
const vote = (member_id: string, kind: "approve" | "reject") =>
  ({ member_id, email: "ana@shop.example", decision: kind, at: "2026-11-17T13:09:40Z" }) as const;

const WAITING = { votes: [vote("mem_me", "approve")], min_approvals: 2, expires_at: "2026-11-17T13:48:00Z" };
const REPLAY = { status: "done", total: 23, done: 18, delivered: 12, failed: 4, skipped: 2, waiting: 5 } as const;
const approval = (cost: number, url: string): string =>
  JSON.stringify({ cost_eur: cost, endpoint: { url }, payload: { amount: cost } });
const refusal409 = {
  ...{ status_code: 409, failure: { detail: "The receiver answered 409" } },
  response: { body: '{"detail":"transfer is settled"}', encoding: "utf8" },
};

/** By its number in the design: what brings it about, what it says, and what the console says. */
const MESSAGES: readonly (readonly [number: number, when: string, says: string, () => string])[] = [
  [
    1,
    "a request passes the day's budget",
    "Budget refused. This costs €0.80 and would pass today's €18.00 (€17.36 is spent or reserved). It resets at midnight in Berlin, or an admin raises the budget.",
    () => refused("budget", "budget-spent", "17.36 of 18.00 EUR used today, this one costs 0.80 EUR"),
  ],
  [
    2,
    "a request comes while the minute's requests are used up",
    "Rate refused. 60 requests a minute are allowed and this is the 61st. The next is possible in 4 s.",
    () => refused("rate", "rate-reached", "60 of 60 in the last minute; the next is possible in 6 s"),
  ],
  [
    2,
    "the same is read later",
    "Rate refused. 60 requests a minute are allowed and this is the 61st. The next was possible 2 s later.",
    () => refused("rate", "rate-reached", "60 of 60 in the last minute; the next is possible in 2 s"),
  ],
  [
    2,
    "one request a minute is allowed",
    "Rate refused. 1 request a minute is allowed and this is the 2nd.",
    () => refused("rate", "rate-reached", "1 of 1 in the last minute"),
  ],
  [
    3,
    "the same request comes again and again",
    "Loop refused. The same request came 3 times in 10 minutes. Look at the run ticket-88213 before you raise the limit.",
    () => refused("loop", "identical-reached", "3 of 3 identical in 600 s"),
  ],
  [
    3,
    "the limit is one, and no run is named",
    "Loop refused. The same request came once in 1 minute.",
    () => refused("loop", "identical-reached", "1 of 1 identical in 60 s", { run: null }),
  ],
  [
    3,
    "the window is no whole minutes, or an hour and more",
    "Loop refused. The same request came 2 times in 1 min 30 s. Loop refused. The same request came 2 times in 2 h.",
    () =>
      [90, 7_200]
        .map((it) => refused("loop", "identical-reached", `2 of 2 identical in ${it} s`, { run: null }))
        .join(" "),
  ],
  [
    4,
    "a rule matches",
    'Content refused. The rule "no refunds over 2,000" matched: `cost_eur > 2000.0`.',
    () => refused("content", "denied-by-rule", 'refused by "no refunds over 2,000"'),
  ],
  [
    4,
    "two rules match, and their version is not known yet",
    'Content refused. The rules "a", "b" matched.',
    () => refused("content", "denied-by-rule", 'refused by "a", "b"', { rules: [] }),
  ],
  [
    5,
    "a field that the policy needs is not there",
    "Field missing. The policy needs `customer.id`; the request has no such field.",
    () => refused("require_fields", "missing-fields", "missing: customer.id"),
  ],
  [
    6,
    "a source's request is signed with another secret",
    "Signature refused. It matches none of this source's secrets. Copy the secret again from the provider's page for this address.",
    () => said(signatureRefusal("mismatch")),
  ],
  [
    7,
    "an agent asks for what is not in its scope",
    "Out of scope. refund-bot may ask for `refund.*`; it asked for `payout.send`.",
    () => refused("scope", "out-of-scope", "no"),
  ],
  [
    7,
    "the scope was widened since",
    "Out of scope. refund-bot was not allowed to ask for `payout.send`.",
    () => refused("scope", "out-of-scope", "no", { scope: ["*"] }),
  ],
  [
    8,
    "Approve is pressed once",
    "Approve €1,240.00? It is sent once and cannot be undone.",
    () => decision.approveQuestion(1_240, "It is sent once and cannot be undone."),
  ],
  [
    9,
    "it is pressed twice, and the receiver takes it",
    "Approved. Delivered to billing-app in 1.2 s.",
    () => outcome({ votes: [vote("mem_me", "approve")] }, { delivered: { to: "billing-app", ms: 1_240 } }),
  ],
  [
    10,
    "it is rejected",
    "Rejected. Nothing was sent. refund-bot was told your reason.",
    () => outcome({ status: "rejected", votes: [vote("mem_me", "reject")] }),
  ],
  [
    11,
    "one of two has approved",
    "Your approval counts: 1 of 2. Ben Okafor was asked; it expires in 38 min.",
    () => said(decision.countsMessage(WAITING, ["Ben Okafor"], NOW)),
  ],
  [
    12,
    "what is asked changes while it is read, and the reader presses",
    "The request changed while you read it. The cost was €1,240.00 and is now €1,420.00. The amount was 1240 and is now 1420. Your decision was not sent.",
    () =>
      outcome(
        { status: "void" },
        { isLate: true, changes: changesBetween(approval(1_240, "https://a"), approval(1_420, "https://a")) },
      ),
  ],
  [
    12,
    "the endpoint gets another address",
    "The request changed while you read it. The address was https://a and is now https://b. Nothing was decided.",
    () => outcome({ status: "void" }, { changes: changesBetween(approval(1, "https://a"), approval(1, "https://b")) }),
  ],
  [
    13,
    "another person has decided, and the reader presses",
    "ana@shop.example decided this 20 s ago: rejected. Your decision was not sent.",
    () => outcome({ status: "rejected", votes: [vote("mem_ana", "reject")] }, { isLate: true }),
  ],
  [
    14,
    "nobody decides in time",
    "It expired at 14:02:11. Nothing was sent. The agent can ask again.",
    () => outcome({ status: "expired", decided_at: null }),
  ],
  [
    15,
    "the reader counts as the one who asked",
    "You asked for this, so another person has to decide. Ben Okafor and Dev Malhotra can.",
    () => said(decision.ownMessage(["Ben Okafor", "Dev Malhotra"])),
  ],
  [
    17,
    "an endpoint's secret is to be rotated",
    "The old one works for 24 h more. Put the new one into your receiver before Wed 18 Nov, 14:10.",
    () => rotationText(format.dayAndTime(NOW + 24 * 3_600_000, CLOCK)),
  ],
  [
    20,
    "an endpoint has failed too often",
    "10 failures in a row. New events wait and are kept; the next probe is in 42 s, and the first success resumes delivery.",
    () =>
      stateText({ state: "open", queued: 3, consecutive_failures: 10, next_probe_at: "2026-11-17T13:10:42Z" }, NOW) ??
      "",
  ],
  [
    21,
    "a replay has ended, and some of its events wait for an endpoint",
    "Finished: 12 delivered, 4 failed, 2 skipped. 5 more wait until erp-bridge answers.",
    () => replayText(REPLAY, [{ name: "erp-bridge", reason: "circuit-open", count: 5 }]),
  ],
  [
    22,
    "the undo of a step is refused for good",
    'This step could not be undone. bank-gateway refused 5 times: "HTTP 409, transfer is settled". Undo it by hand, then mark it as undone.',
    () => said(undoMessage({ to: "bank-gateway", attempts: [refusal409], leftOut: 4 }, "It failed.")),
  ],
  [
    24,
    "there has been no connection for a minute",
    "The next attempt is in 4 s.",
    () => nextAttemptText({ nextAt: NOW + 3_600 }, NOW),
  ],
];

for (const [number, when, says, told] of MESSAGES)
  test(`message ${number}, when ${when}`, () => {
    assert.is(told(), says);
  });

test("a request that is refused in another way is told in the gate's words", () => {
  assert.is(
    refused("budget", "cost-unknown", "the cost is unknown: step 0: no rule"),
    "Budget refused. The cost is unknown: step 0: no rule.",
  );
});

test("an outcome names who decided, unless it was the reader", () => {
  const other = [vote("mem_ana", "approve")];
  assert.is(
    outcome({ votes: other }, { delivered: { to: "till", ms: 2_000 } }),
    "ana@shop.example decided this 20 s ago: approved. Delivered to till in 2 s.",
  );
  assert.is(
    outcome({ status: "rejected", votes: [vote("mem_ana", "reject")] }),
    "ana@shop.example decided this 20 s ago: rejected. Nothing was sent.",
  );
  assert.is(
    outcome({ status: "cancelled" }, { isLate: true }),
    "It was cancelled. Nothing was sent. Your decision was not sent.",
  );
  assert.is(
    outcome({ status: "void" }, { wasOpen: false }),
    "The request changed, so this approval counts no more. Nothing was decided.",
  );
});

test("a card speaks of what is asked, may still be sent, was sent, or was to be sent", () => {
  const stages = [
    ["pending", "held"],
    ["approved", "held"],
    ["consumed", "failed"],
    ["consumed", "delivered"],
    ["consumed", "committed"],
    ["consumed", "cancelled"],
    ["rejected", "cancelled"],
    ["cancelled", "cancelled"],
    ["expired", "expired"],
    ["void", "held"],
  ].map(([status = "", held = ""]) => decision.stageOf(status, held));
  const dropped = Array.from({ length: 5 }, () => "dropped");
  assert.equal(stages, ["asked", "approved", "approved", "done", "done", ...dropped]);
  assert.is(decision.STAGE_HEADINGS.dropped.fields, "What was to be sent");
  assert.equal(["pending", "consumed", "rejected", "cancelled", "expired", "void"].map(decision.sealLabel), [
    ...["What you sign", "What was decided on", "What was decided on"],
    ...["What was asked for", "What was asked for", "What was asked for"],
  ]);
});

test("an undo without an answer says so, and one that was never sent says why", () => {
  const none = { status_code: null, failure: { detail: "connection refused" }, response: null };
  assert.match(
    said(undoMessage({ to: "bank", attempts: [none], leftOut: 0 }, "")),
    'bank did not answer once: "connection refused".',
  );
  assert.match(said(undoMessage(null, "Nothing takes it back.")), "undone. Nothing takes it back. Undo it by hand");
  const page = { ...refusal409, response: { body: "<html>long</html>", encoding: "utf8" } };
  assert.match(said(undoMessage({ to: "bank", attempts: [page], leftOut: 0 }, "")), '"HTTP 409".');
});

test("a schedule of retries is read as it was written, and saved unchanged", () => {
  const written = [5, 30, 90, 120, 3_600, 86_400, 3_661];
  assert.is(scheduleText(written), "5 s, 30 s, 90 s, 2 min, 1 h, 1 d, 3661 s");
  assert.equal(scheduleIn(scheduleText(written)), written);
  assert.equal([scheduleIn(""), scheduleIn(" 7 , 2min")], [[], [7, 120]]);
  for (const wrong of ["soon", "5 s,,7", "5 weeks", "-1", "1.5 h"]) assert.is(scheduleIn(wrong), null, wrong);
});

test("a vote says what of the request its voter saw", () => {
  const words = (form: string, ...hidden: readonly string[]): string => decision.shownWords({ form, hidden });
  assert.is(words("full"), "Every field was shown to them.");
  assert.is(words("redacted", "/card"), "The field /card was hidden from them.");
  assert.is(words("redacted", "/card", "/name"), "2 fields were hidden from them: /card, /name.");
  assert.is(words("redacted", ""), "The payload was hidden from them.");
  assert.is(words("not stated"), "What was shown to them is not recorded.");
});

test.run();
