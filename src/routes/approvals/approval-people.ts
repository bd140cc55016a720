import { account, type OpenAccount } from "../../../domain/account/decider.ts";
import { roleIncludes } from "../../../domain/account/events.ts";
import type { Member } from "../../../domain/account/membership-state.ts";
import type { Vote } from "../../../domain/approval/events.ts";
import { isOverdue, mayApprove, type RequestedApproval } from "../../../domain/approval/state.ts";
import { accountStream } from "../../accounts/accounts.ts";
import type { Aggregates } from "../../streams/aggregates.ts";

/** The account with its present members, read from its stream; null if there is none. */
export const peopleOf = async (
  { aggregates }: { readonly aggregates: Pick<Aggregates, "load"> },
  id: string,
): Promise<OpenAccount | null> => {
  const { state } = await aggregates.load(account, accountStream(id), 0);
  return state.phase === "open" ? state : null;
};

export const isApprover = ({ role }: Pick<Member, "role">): boolean => roleIncludes(role, "approver");

/** Ids of the members whose approval would count at the time `at`. */
const canDecide = ({ request, votes, end }: RequestedApproval, people: OpenAccount, at: string): readonly string[] => {
  if (end !== null || isOverdue(request, at)) return [];
  const voted = new Set(votes.map(({ member_id }) => member_id));
  const counts = ([id, member]: readonly [string, Member]): boolean =>
    isApprover(member) && mayApprove(request, id) && !voted.has(id);
  return [...people.members].filter(counts).map(([id]) => id);
};

const DAY_MS = 86_400_000;
/** For so long before a vote, used links are listed: after that, their members would have noticed another user. */
const HAND_OVER_MS = 7 * DAY_MS;

export type HandOver = {
  readonly member_id: string;
  readonly link: "invitation" | "reset";
  /** Id of the member who made the link. */
  readonly by: string;
  readonly at: string;
};

/**
 * Links that a requester or another voter has made and that a voter used in the 7 days before the vote. A link is
 * handed over by its maker, not mailed, so its maker could have used it and voted in the other's name.
 */
const handOvers = ({ request, votes }: RequestedApproval, { members }: OpenAccount): readonly HandOver[] => {
  const suspects = new Set([...request.requesters, ...votes.map(({ member_id }) => member_id)]);
  const ofVote = ({ member_id, at: votedAt }: Vote): readonly HandOver[] => {
    const { invited = null, reset = null } = members.get(member_id) ?? {};
    const since = new Date(Date.parse(votedAt) - HAND_OVER_MS).toISOString();
    return [{ link: "invitation", used: invited } as const, { link: "reset", used: reset } as const].flatMap(
      ({ link, used }) =>
        used !== null && used.at >= since && used.by.id !== member_id && suspects.has(used.by.id)
          ? [{ member_id, link, by: used.by.id, at: used.at }]
          : [],
    );
  };
  return votes.flatMap(ofVote);
};

export const peopleAnswer = (it: RequestedApproval, people: OpenAccount | null, at: string) => ({
  can_decide: people === null ? [] : canDecide(it, people, at),
  hand_overs: people === null ? [] : handOvers(it, people),
});
