import { accept, type Decider, type Decision, reject } from "../decider.ts";
import type { Reason } from "../personal/words.ts";
import type { ApprovalCommand, ApprovalRejection, CommandOf } from "./commands.ts";
import type { ApprovalEvent, ApprovalRequest, Vote } from "./events.ts";
import { type Approval, type ApprovalOutcome, isOverdue, mayApprove, type RequestedApproval } from "./state.ts";

type Decided = Decision<ApprovalEvent, ApprovalRejection>;

const aboutOf = ({ approval_id, subject }: ApprovalRequest, at: string) => ({ approval_id, subject, at });

const AGREES: Record<Vote["decision"], ApprovalOutcome> = { approve: "approved", reject: "rejected" };

/** A member may repeat a vote, for instance with a second click; the repeat changes nothing. */
const isRepeated = ({ votes, end }: RequestedApproval, { member_id, decision }: Vote): boolean =>
  votes.some((vote) => vote.member_id === member_id && vote.decision === decision) &&
  (end === null || end.outcome === AGREES[decision]);

/** A member who was removed and invited again has another id, so people are counted by their addresses as well. */
const approversOf = (votes: readonly Vote[]): number => {
  const seen = new Set<string>();
  let people = 0;
  for (const { member_id, address, decision } of votes) {
    if (decision !== "approve") continue;
    const names = [`member ${member_id}`, `address ${address}`];
    if (!names.some((name) => seen.has(name))) people += 1;
    for (const name of names) seen.add(name);
  }
  return people;
};

/** Null while votes are accepted. An approval past `expires_at` is expired even before a timer has recorded it. */
const closedFor = ({ request, end }: RequestedApproval, at: string): "already-decided" | "expired" | null => {
  if (end !== null) return end.outcome === "expired" ? "expired" : "already-decided";
  return isOverdue(request, at) ? "expired" : null;
};

const castVote = ({ vote, digest, members }: CommandOf<"CastVote">, state: RequestedApproval): Decided => {
  const { request, votes, end } = state;
  if (digest !== request.digest) return reject("digest-mismatch");
  if (isRepeated(state, vote) && (end !== null || !isOverdue(request, vote.at))) return accept();
  const closed = closedFor(state, vote.at);
  if (closed !== null) return reject(closed);

  const { approval_id } = request;
  const cast: ApprovalEvent = { type: "VoteCast", data: { approval_id, ...vote, digest } };
  const about = aboutOf(request, vote.at);
  // Even a member who has approved may reject, which ends an approval that is still undecided.
  if (vote.decision === "reject") {
    return accept<ApprovalEvent>(cast, { type: "ApprovalRejected", data: { ...about, reason: vote.comment ?? "" } });
  }
  if (!mayApprove(request, vote.member_id)) return reject("self-approval");
  // Approvals of members who have left the account since do not count.
  const present = votes.filter(({ member_id }) => members.has(member_id));
  if (approversOf([...present, vote]) < request.min_approvals) return accept(cast);
  return accept<ApprovalEvent>(cast, { type: "ApprovalGranted", data: { ...about, digest } });
};

const reveal = ({ member_id, hidden, at }: CommandOf<"RevealHiddenFields">, state: RequestedApproval): Decided => {
  const closed = closedFor(state, at);
  if (closed !== null) return reject(closed);
  if (state.revealedTo.has(member_id)) return accept();
  const { approval_id } = state.request;
  return accept({ type: "HiddenFieldsRevealed", data: { approval_id, member_id, hidden, at } });
};

export const approval: Decider<Approval, ApprovalCommand, ApprovalEvent, ApprovalRejection> = {
  initial: { phase: "absent" },

  evolve(state, event) {
    if (event.type === "ApprovalRequested") {
      return { phase: "requested", request: event.data, votes: [], revealedTo: new Set(), end: null };
    }
    if (state.phase === "absent") return state;
    const ended = (outcome: ApprovalOutcome, reason: Reason | null = null): Approval => ({
      ...state,
      end: { outcome, reason, at: event.data.at },
    });
    switch (event.type) {
      case "VoteCast": {
        const { approval_id: _, digest: _shown, ...vote } = event.data;
        return { ...state, votes: [...state.votes, vote] };
      }
      case "HiddenFieldsRevealed":
        return { ...state, revealedTo: new Set([...state.revealedTo, event.data.member_id]) };
      case "ApprovalGranted":
        return ended("approved");
      case "ApprovalRejected":
        return ended("rejected", event.data.reason);
      case "ApprovalExpired":
        return ended("expired");
      case "ApprovalCancelled":
        return ended("cancelled", event.data.reason);
      case "ApprovalVoided": {
        const { reason, next, at } = event.data;
        return { ...state, end: { outcome: "void", reason, next: next.approval_id, at } };
      }
    }
  },

  decide(command, state) {
    if (command.type === "RequestApproval") {
      // The approval's id is derived from the held request, so an existing approval was requested for the same request.
      if (state.phase === "requested") return accept();
      return accept({ type: "ApprovalRequested", data: command.request });
    }
    if (state.phase === "absent") return reject("not-found");
    const { request, end } = state;
    switch (command.type) {
      case "CastVote":
        // The answer must not reveal that another account has an approval with this id.
        return command.account === request.account ? castVote(command, state) : reject("not-found");
      case "RevealHiddenFields":
        return command.account === request.account ? reveal(command, state) : reject("not-found");
      case "ExpireApproval":
        if (end !== null) return accept();
        if (!isOverdue(request, command.at)) return reject("not-due");
        return accept({ type: "ApprovalExpired", data: aboutOf(request, command.at) });
      case "VoidApproval": {
        if (end !== null && end.outcome !== "approved") return accept();
        const { next, reason } = command;
        const { digest } = request;
        return accept({ type: "ApprovalVoided", data: { ...aboutOf(request, command.at), digest, next, reason } });
      }
      case "CancelApproval": {
        if (end !== null) return accept();
        const data = { ...aboutOf(request, command.at), reason: command.reason };
        return accept({ type: "ApprovalCancelled", data });
      }
    }
  },
};
