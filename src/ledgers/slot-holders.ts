import { session } from "../../domain/account/session.ts";
import { action } from "../../domain/action/decider.ts";
import { agent } from "../../domain/agent/decider.ts";
import type { Decider } from "../../domain/decider.ts";
import { endpoint } from "../../domain/endpoint/decider.ts";
import { policy } from "../../domain/policy/decider.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { SLOT_KINDS, type SlotKind, slotFence } from "../../domain/slot.ts";
import { source } from "../../domain/source/decider.ts";
import type { Envelope, Fact } from "../streams/envelope.ts";
import { fenced } from "./fence.ts";

export type SlotHolder = {
  readonly prefix: string;
  readonly streamOf: (id: string) => string;
  readonly exists: (state: unknown) => boolean;
  /** True if the thing exists. If not, a registration under way is fenced and must reserve another slot. */
  readonly keepsSlot: (log: EventLog, id: string, envelope: Envelope) => Promise<boolean>;
};

type HolderKind<S extends { readonly phase: string }, E extends Fact> = {
  readonly prefix: string;
  readonly category: string;
  readonly decider: Pick<Decider<S, never, E, unknown>, "initial" | "evolve">;
  readonly phase: S["phase"];
  readonly isForever: boolean;
};

/** `isForever`: a thing that has ended never exists again, so nothing has to be fenced. */
const holder = <S extends { readonly phase: string }, E extends Fact>({
  prefix,
  category,
  decider,
  phase,
  isForever,
}: HolderKind<S, E>): SlotHolder => {
  const streamOf = (id: string): string => `${category}-${id}`;
  const exists = (state: S): boolean => state.phase === phase;
  const isSettled = (state: S): boolean => exists(state) || (isForever && state.phase !== "absent");
  return {
    prefix,
    streamOf,
    exists: (state) => exists(state as S),
    async keepsSlot(log, id, envelope) {
      const command = { type: "FreeSlot", id, at: envelope.at } as const;
      const { state } = await fenced(log, {
        decider: slotFence(decider, isSettled),
        stream: streamOf(id),
        command,
        envelope,
      });
      return exists(state);
    },
  };
};

export const SLOT_HOLDERS: Readonly<Record<SlotKind, SlotHolder>> = {
  sources: holder({ prefix: "src_", category: "source", decider: source, phase: "present", isForever: true }),
  delivery_endpoints: holder({
    ...{ prefix: "end_", category: "endpoint", decider: endpoint, phase: "present" },
    isForever: true,
  }),
  policies: holder({ prefix: "pol_", category: "policy", decider: policy, phase: "published", isForever: false }),
  agents: holder({ prefix: "agt_", category: "agent", decider: agent, phase: "present", isForever: true }),
  // An action may be defined again under the name, and thus the id, of a deleted one.
  actions: holder({ prefix: "act_", category: "action", decider: action, phase: "defined", isForever: false }),
  sessions: holder({ prefix: "ses_", category: "session", decider: session, phase: "open", isForever: true }),
};

export const slotHolderOf = (id: string): SlotHolder | undefined =>
  SLOT_KINDS.map((kind) => SLOT_HOLDERS[kind]).find(({ prefix }) => id.startsWith(prefix));
