/** What keeps a draft from being published. Pure. */
export type PolicyProblem = {
  /** A JSON Pointer into the definition. */
  readonly path: string;
  readonly message: string;
  /** A name that nothing has, as it was written. */
  readonly name?: string | undefined;
  /** The known name that was most likely meant. */
  readonly proposal?: string | undefined;
};

export const problemText = ({ message, proposal }: PolicyProblem): string =>
  proposal === undefined ? message : `${message}. Did you mean ${proposal}?`;
