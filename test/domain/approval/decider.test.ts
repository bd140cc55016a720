import { suite } from "uvu";
import type { ApprovalCommand } from "../../../domain/approval/commands.ts";
import { approval } from "../../../domain/approval/decider.ts";
import {
  type ApprovalEvent,
  type ApprovalRequest,
  FORM_NOT_STATED,
  type Vote,
} from "../../../domain/approval/events.ts";
import { specFor } from "../../support/given.ts";
import { approvalFacts, at } from "../../support/history.ts";
import { addressed, words } from "../../support/personal-words.ts";

const given = specFor(approval);
const test = suite("approval");
const is = approvalFacts();
const two = approvalFacts("apr_1", { min_approvals: 2 });

/** Unless said otherwise everybody is still there. */
const MEMBERS = new Set(["mem_1", "mem_2", "mem_3"]);

const vote = (member_id: string, decision: Vote["decision"], second: number, over = {}): ApprovalCommand => ({
  type: "CastVote",
  account: "acc_1",
  digest: "d1",
  members: MEMBERS,
  vote: {
    member_id,
    ...addressed(`${member_id}@example.com`),
    decision,
    comment: null,
    ...FORM_NOT_STATED,
    at: at(second),
  },
  ...over,
});
const approves = (member: string, second: number, over = {}) => vote(member, "approve", second, over);
const rejects = (member: string, second: number, over = {}) => vote(member, "reject", second, over);
const expire = (second: number) => ({ type: "ExpireApproval", at: at(second) }) as const;
const cancel = (second: number) => ({ type: "CancelApproval", reason: "suspended", at: at(second) }) as const;
const requestOf = ({ data }: ApprovalEvent) => data as ApprovalRequest;

test("an approval is requested once", () => {
  given()
    .when({ type: "RequestApproval", request: requestOf(is.requested()) })
    .then(is.requested());
  given(is.requested(), is.expired(3_600))
    .when({ type: "RequestApproval", request: requestOf(is.requested()) })
    .thenNothing();
});

test("a grant takes as many people as the policy requires, each counted once", () => {
  given(is.requested())
    .when(approves("mem_1", 1))
    .then(is.voted("mem_1", "approve", 1), is.granted(1));
  given(two.requested())
    .when(approves("mem_1", 1))
    .then(two.voted("mem_1", "approve", 1));
  const once = [two.requested(), two.voted("mem_1", "approve", 1)];
  given(...once)
    .when(approves("mem_1", 2))
    .thenNothing();
  given(...once)
    .when(approves("mem_2", 2))
    .then(two.voted("mem_2", "approve", 2), two.granted(2));
});

test("a member who was removed and added again counts as one person", () => {
  const again = { member_id: "mem_9", decision: "approve", comment: null, at: at(2) } as const;
  for (const members of [new Set(["mem_9"]), new Set(["mem_1", "mem_9"])])
    given(two.requested(), two.voted("mem_1", "approve", 1))
      .when(approves("mem_9", 2, { members, vote: { ...again, ...addressed("mem_1@example.com") } }))
      .then({
        ...two.voted("mem_9", "approve", 2),
        data: { approval_id: "apr_1", digest: "d1", ...again, ...addressed("mem_1@example.com") },
      } as ApprovalEvent);
});

test("the vote of a former member does not count", () => {
  const once = [two.requested(), two.voted("mem_1", "approve", 1)];
  const members = new Set(["mem_2", "mem_3"]);
  given(...once)
    .when(approves("mem_2", 2, { members }))
    .then(two.voted("mem_2", "approve", 2));
  given(...once, two.voted("mem_2", "approve", 2))
    .when(approves("mem_3", 3, { members }))
    .then(two.voted("mem_3", "approve", 3), two.granted(3));
});

test("any rejection ends an approval, also by a member who had approved", () => {
  const no = { comment: words("too much") };
  const rejected = [two.voted("mem_2", "reject", 2, "too much"), two.rejected(2, words("too much"))] as const;
  const command = (member_id: string): ApprovalCommand => ({
    type: "CastVote",
    account: "acc_1",
    digest: "d1",
    members: MEMBERS,
    vote: {
      member_id,
      ...addressed(`${member_id}@example.com`),
      decision: "reject",
      ...FORM_NOT_STATED,
      at: at(2),
      ...no,
    },
  });
  given(two.requested())
    .when(command("mem_2"))
    .then(...rejected);
  given(two.requested(), two.voted("mem_2", "approve", 1))
    .when(command("mem_2"))
    .then(...rejected);
});

test("a decision stands, and a repeated vote is answered with it", () => {
  const granted = [is.requested(), is.voted("mem_1", "approve", 1), is.granted(1)];
  given(...granted)
    .when(approves("mem_1", 2))
    .thenNothing();
  // Even when its time is over by then: it was granted before.
  given(...granted)
    .when(approves("mem_1", 4_000))
    .thenNothing();
  given(...granted)
    .when(approves("mem_2", 2))
    .rejects("already-decided");
  given(...granted)
    .when(rejects("mem_1", 2))
    .rejects("already-decided");
  const rejected = [is.requested(), is.voted("mem_1", "reject", 1), is.rejected(1)];
  given(...rejected)
    .when(rejects("mem_1", 2))
    .thenNothing();
  given(...rejected)
    .when(approves("mem_1", 2))
    .rejects("already-decided");
  given(is.requested(), is.cancelled(1)).when(approves("mem_1", 2)).rejects("already-decided");
});

test("a vote with another digest than the shown one is refused", () => {
  for (const decide of [approves, rejects])
    given(is.requested())
      .when(decide("mem_1", 1, { digest: "d2" }))
      .rejects("digest-mismatch");
});

test("after its time an approval takes no votes, whether or not the timer has run", () => {
  const { expires_at } = requestOf(is.requested());
  for (const decide of [approves, rejects]) {
    given(is.requested()).when(decide("mem_1", 3_600)).rejects("expired");
    given(is.requested(), is.expired(3_600)).when(decide("mem_1", 3_601)).rejects("expired");
    given(two.requested(), two.voted("mem_1", "approve", 1))
      .when(decide("mem_1", 3_600))
      .rejects("expired");
  }
  given(is.requested())
    .when(approves("mem_1", 3_599))
    .then(is.voted("mem_1", "approve", 3_599), is.granted(3_599));
  given(is.requested())
    .when(expire(3_600))
    .then({ ...is.expired(3_600), data: { ...is.expired(3_600).data, at: expires_at } } as ApprovalEvent);
  given(is.requested()).when(expire(3_599)).rejects("not-due");
});

test("a requester who is excluded by the policy cannot approve but can reject", () => {
  const requested_by = { kind: "source", id: "src_1", name: "shop", member: "mem_1" } as const;
  const excluding = approvalFacts("apr_1", { exclude_requester: true, requested_by, requesters: ["mem_1"] });
  given(excluding.requested()).when(approves("mem_1", 1)).rejects("self-approval");
  given(excluding.requested())
    .when(rejects("mem_1", 1))
    .then(excluding.voted("mem_1", "reject", 1), excluding.rejected(1, ""));
  given(excluding.requested())
    .when(approves("mem_2", 1))
    .then(excluding.voted("mem_2", "approve", 1), excluding.granted(1));
  const including = approvalFacts("apr_1", { requested_by });
  given(including.requested())
    .when(approves("mem_1", 1))
    .then(including.voted("mem_1", "approve", 1), including.granted(1));
});

test("an approval that has ended neither expires nor is cancelled", () => {
  given(is.requested()).when(cancel(5)).then(is.cancelled(5));
  for (const end of [is.granted(1), is.rejected(1), is.expired(3_600), is.cancelled(1)]) {
    given(is.requested(), end).when(cancel(5)).thenNothing();
    given(is.requested(), end).when(expire(4_000)).thenNothing();
  }
});

test("the approval of another account is not found", () => {
  given(is.requested())
    .when(approves("mem_1", 1, { account: "acc_2" }))
    .rejects("not-found");
  given().when(approves("mem_1", 1)).rejects("not-found");
  given().when(expire(1)).rejects("not-found");
  given().when(cancel(1)).rejects("not-found");
});

const reveals = (member_id: string, second: number, account = "acc_1"): ApprovalCommand => ({
  type: "RevealHiddenFields",
  account,
  member_id,
  hidden: ["/card"],
  at: at(second),
});

test("a reveal is recorded once for each member, and only while there is something to decide", () => {
  const revealed = (member_id: string, second: number): ApprovalEvent => ({
    type: "HiddenFieldsRevealed",
    data: { approval_id: "apr_1", member_id, hidden: ["/card"], at: at(second) },
  });
  given(is.requested()).when(reveals("mem_2", 1)).then(revealed("mem_2", 1));
  given(is.requested(), revealed("mem_2", 1)).when(reveals("mem_2", 2)).thenNothing();
  given(is.requested(), revealed("mem_2", 1)).when(reveals("mem_3", 2)).then(revealed("mem_3", 2));
  given(is.requested())
    .when(reveals("mem_2", 1, "acc_2"))
    .rejects("not-found");
  given(is.requested()).when(reveals("mem_2", 3_600)).rejects("expired");
  given(is.requested(), is.cancelled(2)).when(reveals("mem_2", 3)).rejects("already-decided");
});

test.run();
