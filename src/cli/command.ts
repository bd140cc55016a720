import type { ParseArgsConfig } from "node:util";

/** Where a command writes: what it was asked for to `out`, how it is going to `note`. */
export type Terminal = { out(line: string): void; note(line: string): void };

export type Env = Readonly<Record<string, string | undefined>>;

export type Arguments = {
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
};

export type Command = {
  /** The words that call it. */
  readonly name: string;
  /** What follows the name. */
  readonly synopsis: string;
  /** Lines of the help. */
  readonly help: readonly string[];
  readonly options?: NonNullable<ParseArgsConfig["options"]>;
  /** Throws `UsageError` for a wrong call; any other error is a failure. */
  run(args: Arguments, env: Env, terminal: Terminal): Promise<void>;
};

/** The call is wrong and nothing was done: the message says how it is to be made. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
