import type { ActionTypes, AnyActions, PayloadOf, ResultOf } from "./actions.ts";
import type { Bundle, EndedBundle, Step } from "./bundle.ts";
import { agentClient } from "./client.ts";
import type { Ended, Execution } from "./execution.ts";
import type { BundleOptions, ExecuteOptions, ExecutionOptions, Options, WaitOptions } from "./options.ts";
import { platformOf } from "./platform.ts";

/** Of an execution that is known by its id alone the caller says which action it was, or gets `unknown`. */
type Named<Actions, Name extends keyof Actions> = [Name] extends [never] ? unknown : ResultOf<Actions[Name]>;

/** What the targets of these actions answer, in their order. */
type ResultsOf<Actions, Names extends readonly (keyof Actions)[]> = {
  readonly [Index in keyof Names]: ResultOf<Actions[Names[Index]]>;
};

/**
 * An agent's side of Countersign: acts through it, and waits for the people who decide.
 *
 * `Actions` maps the names of actions to their payloads, as `countersign sdk types` writes it; without it every name and
 * payload compiles. All methods throw `CountersignError`, or the reason of the signal that they were given.
 */
export class Countersign<Actions extends { readonly [Name in keyof Actions]: ActionTypes } = AnyActions> {
  /**
   * Has an action done, once, however often the request has to be sent: answers what its target said, or how far it is
   * when that takes longer than `waitMs`. A refusal is an error; an action that failed at its target is an answer.
   */
  declare readonly execute: <Name extends keyof Actions & string>(
    action: Name,
    payload: PayloadOf<Actions[Name]>,
    options?: ExecuteOptions,
  ) => Promise<Execution<ResultOf<Actions[Name]>>>;

  /** How far an execution is, by the id that `execute` gave. */
  declare readonly execution: <Name extends keyof Actions & string = never>(
    eventId: string,
    options?: ExecutionOptions,
  ) => Promise<Execution<Named<Actions, Name>>>;

  /** Waits until an execution, held or on its way, has ended: delivered, failed, rejected, expired or cancelled. */
  declare readonly waitForApproval: <Name extends keyof Actions & string = never>(
    eventId: string,
    options?: WaitOptions,
  ) => Promise<Ended<Named<Actions, Name>>>;

  /**
   * Has several actions done in their order, as one: when one of them fails, those before it are taken back. A payload may
   * have parts of what earlier steps were answered (`FromResult`). That it was rolled back is an answer, not an error.
   */
  declare readonly bundle: <const Names extends readonly (keyof Actions & string)[]>(
    steps: { readonly [Index in keyof Names]: Step<Actions, Names[Index]> },
    options?: BundleOptions,
  ) => Promise<Bundle<ResultsOf<Actions, Names>>>;

  /** Waits until a bundle, held or on its way, has ended. */
  declare readonly waitForBundle: (bundleId: string, options?: WaitOptions) => Promise<EndedBundle>;

  constructor(options: Options) {
    // What the targets answer is as the map says.
    Object.assign(this, agentClient(options, platformOf(options.fetch)));
  }
}
