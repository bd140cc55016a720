import type { ActionTypes, AnyActions, PayloadOf, ResultOf } from "./actions.ts";
import type { Bundle, EndedBundle, Step } from "./bundle.ts";
import { agentClient } from "./client.ts";
import type { Ended, Execution } from "./execution.ts";
import type { BundleOptions, ExecuteOptions, ExecutionOptions, Options, WaitOptions } from "./options.ts";
import { platformOf } from "./platform.ts";

type Named<Actions, Name extends keyof Actions> = [Name] extends [never] ? unknown : ResultOf<Actions[Name]>;

type ResultsOf<Actions, Names extends readonly (keyof Actions)[]> = {
  readonly [Index in keyof Names]: ResultOf<Actions[Names[Index]]>;
};

/** `Actions` is the type that `countersign sdk types` writes. Methods throw `CountersignError` or an abort's reason. */
export class Countersign<Actions extends { readonly [Name in keyof Actions]: ActionTypes } = AnyActions> {
  /** Executes an action once. A refusal is thrown as an error; a failure at the target is returned as a result. */
  declare readonly execute: <Name extends keyof Actions & string>(
    action: Name,
    payload: PayloadOf<Actions[Name]>,
    options?: ExecuteOptions,
  ) => Promise<Execution<ResultOf<Actions[Name]>>>;

  declare readonly execution: <Name extends keyof Actions & string = never>(
    eventId: string,
    options?: ExecutionOptions,
  ) => Promise<Execution<Named<Actions, Name>>>;

  /** Waits until an execution has ended: delivered, failed, rejected, expired, cancelled or blocked. */
  declare readonly waitForApproval: <Name extends keyof Actions & string = never>(
    eventId: string,
    options?: WaitOptions,
  ) => Promise<Ended<Named<Actions, Name>>>;

  /** Executes several actions in order. If one fails, those before it are undone; a rollback is no error. */
  declare readonly bundle: <const Names extends readonly (keyof Actions & string)[]>(
    steps: { readonly [Index in keyof Names]: Step<Actions, Names[Index]> },
    options?: BundleOptions,
  ) => Promise<Bundle<ResultsOf<Actions, Names>>>;

  declare readonly waitForBundle: (bundleId: string, options?: WaitOptions) => Promise<EndedBundle>;

  constructor(options: Options) {
    Object.assign(this, agentClient(options, platformOf(options.fetch)));
  }
}
