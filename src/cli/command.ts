import type { ParseArgsConfig } from "node:util";

/** What a line or a part of it tells: something went well, it did not, it waits, or it only names what follows. */
export type Tone = "good" | "bad" | "waiting" | "dim";

/** The characters of a line from `from` to before `to`. */
export type TonedPart = { readonly from: number; readonly to: number; readonly tone: Tone };

export type Tones = Tone | readonly TonedPart[];

export type Screen = {
  readonly columns: number;
  /** Draws `line` in place of the line that is drawn; an empty text clears it. */
  draw(line: string): void;
  ask(question: string): Promise<boolean>;
};

/** `out` takes a command's results, `note` its progress and errors. */
export type Terminal = {
  /**
   * Text is written with invisible characters escaped, bytes unchanged unless they are text and go to a terminal. `tones`
   * colour text on a terminal only: the whole of it, or parts that are in order and do not overlap.
   */
  out(it: string | Uint8Array, tones?: Tones): void;
  note(line: string): void;
  readonly screen?: Screen;
  /** True if `out` goes to a terminal, where a person reads it, not to a file or a program. */
  readonly isRead?: boolean;
};

export type Env = Readonly<Record<string, string | undefined>>;

export type Options = Readonly<Record<string, string | boolean | undefined>>;

export type Arguments = {
  readonly positionals: readonly string[];
  readonly options: Options;
  /** The values of each option that may be given several times; absent if it was not given. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
};

export type Command = {
  readonly synopsis: string;
  readonly help: readonly string[];
  readonly options?: NonNullable<ParseArgsConfig["options"]>;
  /** What may follow the command, if it takes one of a few words. */
  readonly words?: readonly string[];
  /** Throws `UsageError` for a wrong call and `Ended` for another exit code. Any other error ends as a failure (1). */
  run(args: Arguments, env: Env, terminal: Terminal): Promise<void>;
};

/** What the overview shows of a command. The command itself is loaded when it is called, so that each starts fast. */
export type CommandEntry = {
  readonly name: string;
  readonly summary: string;
  /** Commands with the same text are one line of the overview, named by their first word. */
  readonly group?: string;
  load(): Promise<Command>;
};

export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Ends the process with this exit code and without a message. */
export class Ended extends Error {
  override readonly name = "Ended";
  readonly status: number;
  constructor(status: number) {
    super(`ended with ${status}`);
    this.status = status;
  }
}
