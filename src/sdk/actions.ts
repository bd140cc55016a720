export type ActionTypes = { readonly payload: unknown; readonly result?: unknown };

export type AnyActions = Readonly<Record<string, ActionTypes>>;

export type PayloadOf<Action> = Action extends { readonly payload: infer Payload } ? Payload : unknown;
export type ResultOf<Action> = Action extends { readonly result?: infer Result } ? Result : unknown;
