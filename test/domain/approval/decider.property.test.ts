import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ApprovalCommand } from "../../../domain/approval/commands.ts";
import { approval } from "../../../domain/approval/decider.ts";
import { type ApprovalEvent, type ApprovalRequest, FORM_NOT_STATED } from "../../../domain/approval/events.ts";
import type { Approval } from "../../../domain/approval/state.ts";
import { approvalFacts, at } from "../../support/history.ts";
import { addressed } from "../../support/personal-words.ts";

const test = suite("approval properties");

const REQUESTER = "mem_1";
const MEMBERS = new Set(["mem_1", "mem_2", "mem_3", "mem_4", "mem_5"]);
const ENDS: ReadonlySet<string> = new Set([
  "ApprovalGranted",
  "ApprovalRejected",
  "ApprovalExpired",
  "ApprovalCancelled",
]);

/** Clocks of several nodes: no order among the seconds. */
const second = fc.integer({ min: 0, max: 120 });
const command = (request: ApprovalRequest): fc.Arbitrary<ApprovalCommand> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constant<ApprovalCommand>({ type: "RequestApproval", request }) },
    {
      weight: 8,
      arbitrary: fc
        .record({
          member: fc.integer({ min: 1, max: 5 }),
          decision: fc.constantFrom("approve", "approve", "approve", "reject"),
          digest: fc.constantFrom("d1", "d1", "d1", "d2"),
          account: fc.constantFrom("acc_1", "acc_1", "acc_1", "acc_2"),
          second,
        })
        .map(({ member, decision, digest, account, second }): ApprovalCommand => {
          const member_id = `mem_${member}`;
          const vote = {
            member_id,
            ...addressed(`${member_id}@example.com`),
            comment: null,
            ...FORM_NOT_STATED,
            at: at(second),
          } as const;
          return { type: "CastVote", account, digest, members: MEMBERS, vote: { ...vote, decision } };
        }),
    },
    { weight: 2, arbitrary: second.map((s): ApprovalCommand => ({ type: "ExpireApproval", at: at(s) })) },
    {
      weight: 1,
      arbitrary: second.map((s): ApprovalCommand => ({ type: "CancelApproval", reason: "stop", at: at(s) })),
    },
  );

const story = fc
  .record({ min_approvals: fc.integer({ min: 1, max: 3 }), exclude_requester: fc.boolean() })
  .chain((rule) => {
    const requested_by = { kind: "agent", id: "agt_1", name: "refunds", member: REQUESTER } as const;
    const asked = approvalFacts("apr_1", {
      ...rule,
      requested_by,
      requesters: [REQUESTER],
      expires_at: at(60),
    }).requested();
    const request = asked.data as ApprovalRequest;
    return fc.record({ request: fc.constant(request), commands: fc.array(command(request), { maxLength: 40 }) });
  });

const run = (commands: readonly ApprovalCommand[]): readonly ApprovalEvent[] => {
  let state: Approval = approval.initial;
  const events: ApprovalEvent[] = [];
  for (const it of commands) {
    const decision = approval.decide(it, state);
    if (!decision.ok) continue;
    for (const event of decision.events) {
      state = approval.evolve(state, event);
      events.push(event);
    }
  }
  return events;
};

/** Whatever is asked in whatever order. */
const always = (check: (request: ApprovalRequest, events: readonly ApprovalEvent[]) => void): void =>
  fc.assert(
    fc.property(story, ({ request, commands }) => check(request, run(commands))),
    { numRuns: 2_000 },
  );

test("an approval ends at most once, and no record follows its end", () =>
  always((_, events) => {
    const end = events.findIndex(({ type }) => ENDS.has(type));
    if (end !== -1) assert.is(end, events.length - 1);
    assert.ok(events.filter(({ type }) => type === "ApprovalRequested").length <= 1);
  }));

test("an approval is granted by enough different people with the right digest, in time and permitted to vote", () =>
  always(({ min_approvals, exclude_requester, expires_at }, events) => {
    const votes = events.flatMap((event) => (event.type === "VoteCast" ? [event.data] : []));
    for (const vote of votes) {
      assert.ok(vote.at < expires_at);
      assert.is(vote.digest, "d1");
    }
    const approvers = votes.filter(({ decision }) => decision === "approve").map(({ member_id }) => member_id);
    assert.is(new Set(approvers).size, approvers.length, "one approval a member");
    if (exclude_requester) assert.not(approvers.includes(REQUESTER));
    const granted = events.some(({ type }) => type === "ApprovalGranted");
    const rejected = votes.some(({ decision }) => decision === "reject");
    assert.is(granted, approvers.length === min_approvals && !rejected);
    assert.is(
      events.some(({ type }) => type === "ApprovalRejected"),
      rejected,
    );
  }));

test("an approval expires only at its time or later", () =>
  always(({ expires_at }, events) => {
    for (const { type, data } of events)
      if (type === "ApprovalExpired") assert.ok((data as { at: string }).at >= expires_at);
  }));

test.run();
