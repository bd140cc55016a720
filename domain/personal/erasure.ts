import { accept, type Decider } from "../decider.ts";
import type { MemberErasureEvent, PersonalErasureEvent } from "./events.ts";
import type { Reason } from "./words.ts";

export type PersonalErasure = { readonly erasedAt: string | null };

export type ErasePersonalData = {
  readonly type: "ErasePersonalData";
  readonly id: string;
  readonly reason: Reason;
  readonly at: string;
};

export const personalErasure: Decider<PersonalErasure, ErasePersonalData, PersonalErasureEvent, never> = {
  initial: { erasedAt: null },
  evolve: (_state, { data }) => ({ erasedAt: data.at }),
  decide: ({ id, reason, at }, { erasedAt }) =>
    erasedAt === null ? accept({ type: "PersonalDataErased", data: { id, reason, at } }) : accept(),
};

export type EraseMember = {
  readonly type: "EraseMember";
  readonly account: string;
  readonly member: string;
  readonly reason: Reason;
  readonly at: string;
};

export const memberErasure: Decider<PersonalErasure, EraseMember, MemberErasureEvent, never> = {
  initial: { erasedAt: null },
  evolve: (_state, { data }) => ({ erasedAt: data.at }),
  decide: ({ account, member, reason, at }, { erasedAt }) =>
    erasedAt === null ? accept({ type: "MemberErased", data: { account, member, reason, at } }) : accept(),
};
