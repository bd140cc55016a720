import type { ActionTypes, AnyActions, PayloadOf, ResultOf } from "./actions.ts";
import { agentClient, type Client } from "./client.ts";
import type { Ended, Execution } from "./execution.ts";
import type { ExecuteOptions, ExecutionOptions, Options, WaitOptions } from "./options.ts";
import { platformOf } from "./platform.ts";

/** Of an execution that is known by its id alone the caller says which action it was, or gets `unknown`. */
type Named<Actions, Name extends keyof Actions> = [Name] extends [never] ? unknown : ResultOf<Actions[Name]>;

/**
 * An agent's side of Countersign: acts through it, and waits for the people who decide.
 *
 * `Actions` maps the names of actions to their payloads, as `countersign sdk types` writes it; without it every name and
 * payload compiles. All methods throw `CountersignError`, or the reason of the signal that they were given.
 */
export class Countersign<Actions extends { readonly [Name in keyof Actions]: ActionTypes } = AnyActions> {
  readonly #client: Client;

  constructor(options: Options) {
    this.#client = agentClient(options, platformOf(options.fetch));
  }

  /**
   * Has an action done, once, however often the request has to be sent: answers what its target said, or how far it is
   * when that takes longer than `waitMs`. A refusal is an error; an action that failed at its target is an answer.
   */
  execute<Name extends keyof Actions & string>(
    action: Name,
    payload: PayloadOf<Actions[Name]>,
    options?: ExecuteOptions,
  ): Promise<Execution<ResultOf<Actions[Name]>>> {
    // What the target answers is as the map says.
    return this.#client.execute(action, payload, options) as Promise<Execution<ResultOf<Actions[Name]>>>;
  }

  /** How far an execution is, by the id that `execute` gave. */
  execution<Name extends keyof Actions & string = never>(
    eventId: string,
    options?: ExecutionOptions,
  ): Promise<Execution<Named<Actions, Name>>> {
    // As above.
    return this.#client.execution(eventId, options) as Promise<Execution<Named<Actions, Name>>>;
  }

  /** Waits until an execution, held or on its way, has ended: delivered, failed, rejected, expired or cancelled. */
  waitForApproval<Name extends keyof Actions & string = never>(
    eventId: string,
    options?: WaitOptions,
  ): Promise<Ended<Named<Actions, Name>>> {
    // As above.
    return this.#client.waitForApproval(eventId, options) as Promise<Ended<Named<Actions, Name>>>;
  }
}
