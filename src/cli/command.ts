import type { ParseArgsConfig } from "node:util";

/** What a person looks at: a line that is drawn over itself, and questions. */
export type Screen = {
  readonly columns: number;
  /** Replaces what was drawn before; empty clears it. */
  draw(line: string): void;
  /** True for a yes. */
  ask(question: string): Promise<boolean>;
};

/** Where a command writes: what it was asked for to `out`, how it is going to `note`. */
export type Terminal = {
  /** Lines, with what cannot be seen as escapes; or bytes, as they are unless a person reads them. */
  out(it: string | Uint8Array): void;
  note(line: string): void;
  /** Missing where no person looks, as in a script. */
  readonly screen?: Screen;
  /** What `out` writes goes to a terminal, not into a file or a program. */
  readonly isRead?: boolean;
};

export type Env = Readonly<Record<string, string | undefined>>;

export type Options = Readonly<Record<string, string | boolean | undefined>>;

export type Arguments = {
  readonly positionals: readonly string[];
  readonly options: Options;
};

export type Command = {
  /** The words that call it. */
  readonly name: string;
  /** What follows the name. */
  readonly synopsis: string;
  /** What it does, in one line of the overview. */
  readonly summary: string;
  /** Lines of the help. */
  readonly help: readonly string[];
  readonly options?: NonNullable<ParseArgsConfig["options"]>;
  /** Throws `UsageError` for a wrong call, `Ended` for another exit code; any other error is a failure. */
  run(args: Arguments, env: Env, terminal: Terminal): Promise<void>;
};

/** The call is wrong and nothing was done: the message says how it is to be made. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** All that there is to say has been said. */
export class Ended extends Error {
  override readonly name = "Ended";
  readonly status: number;
  constructor(status: number) {
    super(`ended with ${status}`);
    this.status = status;
  }
}
