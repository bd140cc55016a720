import type { ActionDefinition } from "./definition.ts";

export type ActionCommand =
  /** The definition was validated by `parseAction`, and its schema compiles. */
  | {
      readonly type: "DefineAction";
      readonly actionId: string;
      readonly account: string;
      readonly name: string;
      readonly definition: ActionDefinition;
      readonly by: string;
      readonly at: string;
    }
  | { readonly type: "DeleteAction"; readonly at: string };
