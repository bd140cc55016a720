import { constants } from "node:fs";
import { open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { type Checkpoint, parseCheckpoint } from "../../domain/evidence/checkpoint.ts";
import { parseNote } from "../../domain/evidence/signed-note.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { KeyUnusable } from "../../infra/crypto/keyfile.ts";

export const lastCheckpointFileOf = ({ path }: { readonly path: string }): string => `${path}.checkpoint`;

const MODE = 0o600;

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
    const text = await readFile(this.#path, "utf8").catch((error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
      throw error;
    });
    if (text === null) return null;
    const checkpoint = parseCheckpoint(parseNote(text)?.text ?? "");
    if (checkpoint === null) throw new KeyUnusable(`${this.#path} does not contain a checkpoint.`);
    this.#last = checkpoint;
    return checkpoint;
  }

  /** Resolves when the file has this checkpoint, or a larger one. A signature is shown only afterwards. */
  remember(note: string, { origin, size }: Pick<Checkpoint, "origin" | "size">): Promise<void> {
    const write = async (): Promise<void> => {
      const isKnown = (): boolean => this.#last !== null && this.#last.origin === origin && this.#last.size >= size;
      if (isKnown()) return;
      // Another process with the same key may have written a larger one.
      await this.read();
      if (!isKnown()) await this.#write(note);
    };
    this.#writing = this.#writing.catch(() => undefined).then(write);
    return this.#writing;
  }

  async #write(note: string): Promise<void> {
    const draft = `${this.#path}.${Buffer.from(this.#randomness.bytes(8)).toString("hex")}`;
    const file = await open(draft, "wx", MODE);
    try {
      await file.writeFile(note);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, this.#path);
    if (process.platform !== "win32") {
      const folder = await open(dirname(this.#path), constants.O_RDONLY);
      await folder.sync().finally(() => folder.close());
    }
    await this.read();
  }
}
