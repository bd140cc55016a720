import { constants } from "node:fs";
import { open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { type Checkpoint, parseCheckpoint } from "../../domain/evidence/checkpoint.ts";
import { parseNote } from "../../domain/evidence/signed-note.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { KeyUnusable } from "../../infra/crypto/keyfile.ts";
import { isCode } from "../../infra/system-error.ts";

export const lastCheckpointFileOf = ({ path }: { readonly path: string }): string => `${path}.checkpoint`;

const MODE = 0o600;

/** Null if there is no such file. */
const checkpointIn = async (path: string): Promise<Checkpoint | null> => {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (isCode(error, "ENOENT")) return null;
    throw error;
  });
  if (text === null) return null;
  const checkpoint = parseCheckpoint(parseNote(text)?.text ?? "");
  if (checkpoint === null) throw new KeyUnusable(`${path} does not contain a checkpoint.`);
  return checkpoint;
};

/** The newest instance checkpoint that was shown to anyone, in a file beside the key: a log that is older was rolled back. */
export class LastCheckpoint {
  readonly #path: string;
  readonly #randomness: Randomness;
  #last: Checkpoint | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, randomness: Randomness) {
    this.#path = path;
    this.#randomness = randomness;
  }

  /** Null if no checkpoint was shown yet. */
  async read(): Promise<Checkpoint | null> {
    const checkpoint = await checkpointIn(this.#path);
    if (checkpoint !== null) this.#last = checkpoint;
    return checkpoint;
  }

  /** Keeps the first checkpoint of a new generation, before the log has its first leaf. */
  prepare(note: string): Promise<void> {
    return this.#write(note, this.#nextPath);
  }

  /**
   * Puts the checkpoint that was prepared in place, if the log has the new generation. It is a file of its own, because a
   * log that was restored once more has the same first leaf, but not this file. False if there was nothing to complete.
   */
  async completeReopening(isOfLog: (checkpoint: Checkpoint) => Promise<boolean>): Promise<boolean> {
    const next = await checkpointIn(this.#nextPath);
    if (next === null || !(await isOfLog(next))) return false;
    const shown = await this.read();
    if (shown?.origin === next.origin) {
      await rm(this.#nextPath);
      return false;
    }
    await this.#replace(this.#nextPath);
    await this.read();
    return true;
  }

  /** Resolves when the file has this checkpoint, or a larger one. A signature is shown only afterwards. */
  remember(note: string, { origin, size }: Pick<Checkpoint, "origin" | "size">): Promise<void> {
    const write = async (): Promise<void> => {
      const isKnown = (): boolean => this.#last !== null && this.#last.origin === origin && this.#last.size >= size;
      if (isKnown()) return;
      // Another process with the same key may have written a larger one.
      await this.read();
      if (isKnown()) return;
      await this.#write(note, this.#path);
      await this.read();
    };
    this.#writing = this.#writing.catch(() => undefined).then(write);
    return this.#writing;
  }

  get #nextPath(): string {
    return `${this.#path}.next`;
  }

  async #write(note: string, path: string): Promise<void> {
    const draft = `${this.#path}.${Buffer.from(this.#randomness.bytes(8)).toString("hex")}`;
    const file = await open(draft, "wx", MODE);
    try {
      await file.writeFile(note);
      await file.sync();
    } finally {
      await file.close();
    }
    await this.#replace(draft, path);
  }

  async #replace(draft: string, path = this.#path): Promise<void> {
    await rename(draft, path);
    if (process.platform !== "win32") {
      const folder = await open(dirname(this.#path), constants.O_RDONLY);
      await folder.sync().finally(() => folder.close());
    }
  }
}
