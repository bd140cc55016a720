import { accept, type Decider } from "../decider.ts";
import type { PersonalErasureEvent } from "./events.ts";

export type PersonalErasure = { readonly erasedAt: string | null };

export type ErasePersonalData = {
  readonly type: "ErasePersonalData";
  readonly id: string;
  readonly reason: string;
  readonly at: string;
};

export const personalErasure: Decider<PersonalErasure, ErasePersonalData, PersonalErasureEvent, never> = {
  initial: { erasedAt: null },
  evolve: (_state, { data }) => ({ erasedAt: data.at }),
  decide: ({ id, reason, at }, { erasedAt }) =>
    erasedAt === null ? accept({ type: "PersonalDataErased", data: { id, reason, at } }) : accept(),
};
