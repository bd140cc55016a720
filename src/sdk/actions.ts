/** What an action takes, and what its target answers with; an answer that is left out is `unknown`. */
export type ActionTypes = { readonly payload: unknown; readonly result?: unknown };

/** Without a map every name and every payload is allowed. */
export type AnyActions = Readonly<Record<string, ActionTypes>>;

export type PayloadOf<Action> = Action extends { readonly payload: infer Payload } ? Payload : unknown;
export type ResultOf<Action> = Action extends { readonly result?: infer Result } ? Result : unknown;
