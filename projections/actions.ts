import type { ActionDefinition } from "../domain/action/definition.ts";
import type { ActionEvent } from "../domain/action/events.ts";
import { eventOf, perDocument } from "./projection.ts";

export type ActionDocument = {
  readonly account: string;
  readonly name: string;
  readonly version: number;
  readonly definition: ActionDefinition;
  readonly changed_by: string;
  readonly changed_at: string;
  readonly created_at: string;
};

/** A deleted action has no document; the audit log still shows it. */
export const actions = perDocument<ActionDocument>(
  {
    name: "actions.v1",
    fields: { account: "text", name: "text" },
    indexes: [["account", "name"]],
  },
  ({ stream, data: { action_id } }) =>
    stream.startsWith("action-") && typeof action_id === "string" ? action_id : null,
  (document, recorded) => {
    const event = eventOf<ActionEvent>(recorded);
    if (event.type === "ActionDeleted") return null;
    const { account, name, version, definition, by, at } = event.data;
    return {
      account,
      name,
      version,
      definition: definition,
      changed_by: by,
      changed_at: at,
      created_at: document?.created_at ?? at,
    };
  },
);
