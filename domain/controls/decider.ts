import { accept, type Decider, type Decision, reject } from "../decider.ts";
import { sameJson } from "../same-json.ts";
import { type Configuration, EMPTY, type PartChange, type PartKind, type Parts, withPart } from "./configuration.ts";
import type { ControlsEvent } from "./events.ts";
import { type Weakening, weakenings } from "./weakening.ts";

export type ChangeControls = {
  readonly type: "ChangeControls";
  readonly account: string;
  /** The part as it is from then on: made of what the stream says, so that two changes of one part both count. */
  readonly change: PartChange;
  /** The part as its own stream has it, for a part that the stream of controls does not know; null for a new one. */
  readonly base: PartChange;
  /** Its credential is made anew, and shown to whoever asks. */
  readonly issues: boolean;
  /** A person with a session, or a key that acts for the account. */
  readonly asker: "person" | "key";
  readonly by: string;
  readonly at: string;
};

export type ControlsCommand =
  | ChangeControls
  /** Something new was recorded here, and was not made after all. */
  | {
      readonly type: "WithdrawPart";
      readonly account: string;
      readonly kind: PartKind;
      readonly id: string;
      readonly by: string;
      readonly at: string;
    };

export type ControlsRejection = "person-required";

const partIn = (state: Configuration, kind: PartKind, id: string): Parts[PartKind] | null =>
  state[kind].get(id) ?? null;

/** What a command would weaken; also said to a key that may not do it. */
export const weakenedBy = (
  { change, base, issues }: Pick<ChangeControls, "change" | "base" | "issues">,
  known: Configuration,
): readonly Weakening[] => {
  const { kind, id } = change;
  const state = known[kind].has(id) ? known : withPart(known, base);
  const issued = issues && (kind === "agent" || kind === "source") ? { kind, id } : null;
  return weakenings(state, withPart(state, change), issued);
};

/** A sentence of many is enough for a person to find the others. */
const REASONS_MAX = 20;

type Decided = Decision<ControlsEvent, ControlsRejection>;

export const controls: Decider<Configuration, ControlsCommand, ControlsEvent, ControlsRejection> = {
  initial: EMPTY,

  evolve: (state, { data }) => withPart(state, data.change),

  decide(command, state): Decided {
    if (command.type === "WithdrawPart") {
      const { account, kind, id, by, at } = command;
      const before = partIn(state, kind, id);
      // The kind says which part it is.
      const change = { kind, id, part: null } as PartChange;
      return before === null
        ? accept()
        : accept({ type: "ControlsChanged", data: { account, change, before, by, at } });
    }
    const { account, change, base, by, at, asker } = command;
    const before = partIn(state, change.kind, change.id) ?? base.part;
    const weakened = weakenedBy(command, state);
    const data = { account, change, before, by, at };
    if (weakened.length > 0) {
      if (asker === "key") return reject("person-required");
      const reasons = weakened.slice(0, REASONS_MAX).map(({ why }) => why);
      return accept({ type: "ControlsWeakened", data: { ...data, reasons } });
    }
    return sameJson(before, change.part) ? accept() : accept({ type: "ControlsChanged", data });
  },
};
