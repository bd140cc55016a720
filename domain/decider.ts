/** A refused command is an ordinary value; only a bug throws. */
export type Decision<E, R> =
  | { readonly ok: true; readonly events: readonly E[] }
  | { readonly ok: false; readonly rejection: R };

export const accept = <E>(...events: readonly E[]): Decision<E, never> => ({ ok: true, events });
export const reject = <R>(rejection: R): Decision<never, R> => ({ ok: false, rejection });

export type Decider<S, C, E, R> = {
  readonly initial: S;
  readonly evolve: (state: S, event: E) => S;
  readonly decide: (command: C, state: S) => Decision<E, R>;
};

/** Refuses every command if the state in which its caller was authorised no longer holds. */
export const onlyWhile = <S, C, E, R>(
  decider: Decider<S, C, E, R>,
  holds: (state: S) => boolean,
): Decider<S, C, E, R | "changed-meanwhile"> => ({
  ...decider,
  decide: (command, state) => (holds(state) ? decider.decide(command, state) : reject("changed-meanwhile")),
});

export const fold = <S, E>(
  decider: Pick<Decider<S, never, E, never>, "initial" | "evolve">,
  events: Iterable<E>,
): S => {
  let state = decider.initial;
  for (const event of events) state = decider.evolve(state, event);
  return state;
};
