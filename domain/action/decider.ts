import { accept, type Decider, reject } from "../decider.ts";
import { sameJson } from "../same-json.ts";
import type { ActionCommand } from "./commands.ts";
import type { ActionDefinition } from "./definition.ts";
import type { ActionEvent } from "./events.ts";

export type DefinedAction = {
  readonly phase: "defined";
  readonly actionId: string;
  readonly account: string;
  readonly name: string;
  readonly version: number;
  readonly definition: ActionDefinition;
  readonly by: string;
  readonly at: string;
  readonly createdAt: string;
};

export type Action =
  | { readonly phase: "absent" }
  | DefinedAction
  | { readonly phase: "deleted"; readonly version: number };

export const action: Decider<Action, ActionCommand, ActionEvent, "not-found"> = {
  initial: { phase: "absent" },

  evolve(state, event) {
    if (event.type === "ActionDeleted") {
      return state.phase === "defined" ? { phase: "deleted", version: state.version } : state;
    }
    // The stream also has `SlotFreed`, which changes no state of the action.
    if (event.type !== "ActionDefined") return state;
    const { action_id: actionId, account, name, version, definition, by, at } = event.data;
    const createdAt = state.phase === "defined" ? state.createdAt : at;
    return { phase: "defined", actionId, account, name, version, definition, by, at, createdAt };
  },

  decide(command, state) {
    if (command.type === "DeleteAction") {
      if (state.phase !== "defined") return reject("not-found");
      const { actionId: action_id, account, name } = state;
      return accept({ type: "ActionDeleted", data: { action_id, account, name, at: command.at } });
    }
    // Defining the same again makes no new version.
    if (state.phase === "defined" && sameJson(state.definition, command.definition)) return accept();
    const { actionId: action_id, account, name, definition, by, at } = command;
    const version = state.phase === "absent" ? 1 : state.version + 1;
    return accept({ type: "ActionDefined", data: { action_id, account, name, version, definition, by, at } });
  },
};
