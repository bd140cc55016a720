import { account, isExpired } from "../../domain/account/decider.ts";
import { holdsSession } from "../../domain/account/membership-state.ts";
import { type SessionState, session } from "../../domain/account/session.ts";
import type { Slots } from "../ledgers/slots.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { Envelope } from "../streams/envelope.ts";
import { accountStream } from "./accounts.ts";
import { streamOfSession } from "./sessions.ts";

export type SessionRoomDeps = {
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly slots: Pick<Slots, "holders" | "free">;
};

const READS_AT_ONCE = 16;

/** The holder of a slot; `member` is null while its session is not opened yet. */
type Holder = { readonly id: string; readonly member: string | null; readonly isOver: boolean };

/** The oldest session of the member with the most sessions has to end, so that no member ends those of another. */
const sessionToEnd = (open: readonly Holder[], newcomer: string): Holder | undefined => {
  const counts = new Map<string | null, number>([[newcomer, 1]]);
  for (const { member } of open) counts.set(member, (counts.get(member) ?? 0) + 1);
  const ofMember = open.filter(({ member }) => member !== null);
  const most = Math.max(...ofMember.map(({ member }) => counts.get(member) ?? 0));
  const candidates = ofMember.filter(({ member }) => counts.get(member) === most);
  return candidates.find(({ member }) => member === newcomer) ?? candidates[0];
};

/** Frees the slots of sessions that are over; if there are none, ends one session. */
export const sessionRoom = ({ aggregates, slots }: SessionRoomDeps) => {
  const end = async (of: string, id: string, envelope: Envelope): Promise<void> => {
    const stream = streamOfSession(id);
    const command = { type: "CloseSession", at: envelope.at } as const;
    const named = { ...envelope, commandId: `${envelope.commandId}/end-${id}` };
    if (stream !== null) await aggregates.handle(session, stream, command, named);
    await slots.free("sessions", of, id);
  };

  const holdersOf = async (of: string, at: string): Promise<readonly Holder[]> => {
    const { state: owner } = await aggregates.load(account, accountStream(of), 0);
    const isOver = (id: string, state: SessionState): boolean => {
      if (state.phase !== "open") return state.phase === "closed";
      const member = owner.phase === "open" ? owner.members.get(state.member) : undefined;
      return isExpired(state, at) || member === undefined || !holdsSession(member, { id, epoch: state.epoch });
    };
    const holders: Holder[] = [];
    const ids = await slots.holders("sessions", of);
    for (let from = 0; from < ids.length; from += READS_AT_ONCE) {
      const some = ids.slice(from, from + READS_AT_ONCE).map(async (id): Promise<Holder> => {
        const { state } = await aggregates.load(session, streamOfSession(id) ?? id, 0);
        return { id, member: state.phase === "open" ? state.member : null, isOver: isOver(id, state) };
      });
      holders.push(...(await Promise.all(some)));
    }
    return holders;
  };

  return async (of: string, newcomer: string, envelope: Envelope): Promise<void> => {
    const holders = await holdersOf(of, envelope.at);
    const over = holders.filter(({ isOver }) => isOver);
    const ended = over.length > 0 ? over : [sessionToEnd(holders, newcomer)];
    for (const it of ended) if (it !== undefined) await end(of, it.id, envelope);
  };
};
