import { type AddCheckpoint, isFork, mayCosign, parseAddCheckpoint } from "../../domain/evidence/add-checkpoint.ts";
import { textOf, toHex, utf8 } from "../../domain/evidence/bytes.ts";
import { type Checkpoint, parseCheckpoint } from "../../domain/evidence/checkpoint.ts";
import { cosignatureOf } from "../../domain/evidence/cosignature.ts";
import {
  formatNote,
  formatSignatureLine,
  type NoteSignature,
  parseNote,
  type SignedNote,
  type SignerKey,
  signaturesBy,
  type VerifierKey,
  verifiedBy,
} from "../../domain/evidence/signed-note.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import { ed25519Signer, ed25519Verify } from "../../infra/crypto/ed25519.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { signsFor } from "./origins.ts";
import type { Seen, WitnessState } from "./state.ts";

export type Answer = { readonly status: number; readonly type: string; readonly body: string };

export const TEXT = "text/plain; charset=utf-8";
const SIZE = "text/x.tlog.size";
/** Only who holds a log's key can make new origins; so many of them fill some 10 MB of the state. */
const ORIGINS_MAX = 10_000;

export const says = (status: number, sentence: string): Answer => ({ status, type: TEXT, body: `${sentence}\n` });

export type WitnessOptions = {
  readonly logs: readonly VerifierKey[];
  readonly signer: SignerKey;
  readonly state: WitnessState;
  readonly clock: Clock;
  /** Takes a sentence, and the two checkpoints that prove it. */
  readonly onFork: (text: string) => void;
  readonly originsMax?: number;
};

/** A checkpoint that is signed by a log, and those of its signatures that count. */
type Submitted = {
  readonly call: AddCheckpoint;
  readonly checkpoint: Checkpoint;
  readonly note: SignedNote;
};

export class Witness {
  readonly #options: WitnessOptions;
  readonly #sign: (message: Uint8Array) => Uint8Array;
  /** The origins in the state, by the SHA-256 under which their newest checkpoint is read. */
  readonly #origins: Map<string, string>;

  constructor(options: WitnessOptions) {
    this.#options = options;
    this.#sign = ed25519Signer(options.signer.seed).sign;
    this.#origins = new Map(options.state.origins().map((origin) => [toHex(sha256(utf8(origin))), origin]));
  }

  /** The answer to a body of `add-checkpoint`. */
  async add(bytes: Uint8Array): Promise<Answer> {
    const call = parseAddCheckpoint(textOf(bytes) ?? "");
    const note = call === null ? null : parseNote(call.note);
    const checkpoint = note === null ? null : parseCheckpoint(note.text);
    if (call === null || note === null || checkpoint === null)
      return says(400, "The body is not that of add-checkpoint.");
    const keys = this.#options.logs.filter(({ name }) => signsFor(name, checkpoint.origin));
    if (keys.length === 0) return says(404, "This witness knows no log of this origin.");
    const signatures = await verifiedSignatures(note, keys);
    if (signatures.length === 0) return says(403, "No known key of the log has signed this checkpoint.");
    return this.#decide({ call, checkpoint, note: { text: note.text, signatures } });
  }

  /** The newest cosigned checkpoint of an origin, named by its SHA-256 in hex; null if there is none. */
  newest(originHash: string): string | null {
    const origin = this.#origins.get(originHash);
    return origin === undefined ? null : (this.seen(origin)?.note ?? null);
  }

  seen(origin: string): Seen | null {
    return this.#options.state.seen(origin);
  }

  /** Waits for nothing, so that no other call is decided between the look at the state and its change. */
  #decide({ call, checkpoint, note }: Submitted): Answer {
    const { origin, size, root } = checkpoint;
    const seen = this.seen(origin);
    if (seen !== null && isFork(seen, checkpoint)) this.#tellFork(origin, seen.note, formatNote(note));
    const verdict = mayCosign(sha256, seen, call, checkpoint);
    if (verdict === "beyond") return says(400, "The old size is above that of the checkpoint.");
    if (verdict === "conflict") return { status: 409, type: SIZE, body: `${seen?.size ?? 0}\n` };
    if (verdict === "unproved") return says(422, "The proof does not show that the tree has only grown.");
    const { originsMax = ORIGINS_MAX } = this.#options;
    if (seen === null && this.#origins.size >= originsMax)
      return says(503, `This witness keeps ${originsMax} origins.`);
    // Where the clock was set back, the same time again is no false statement, and an earlier one would be.
    const time = Math.max(Math.floor(this.#options.clock.now() / 1_000), seen?.time ?? 0);
    const cosignature = cosignatureOf((_, message) => this.#sign(message), note.text, this.#options.signer, time);
    const cosigned = formatNote({ ...note, signatures: [...note.signatures, cosignature] });
    // The state is on disk before the cosignature leaves. If the process dies in between, the log asks again.
    this.#options.state.setSeen(origin, { size, root, time, note: cosigned });
    this.#origins.set(toHex(sha256(utf8(origin))), origin);
    return { status: 200, type: TEXT, body: formatSignatureLine(cosignature) };
  }

  #tellFork(origin: string, seen: string, other: string): void {
    if (!this.#options.state.keepFork(origin, other)) return;
    this.#options.onFork(
      `${origin} has two histories: its key signed two trees of one size. These two checkpoints prove it:\n${seen}\n${other}`,
    );
  }
}

/** The signatures of known keys; none if one of them is wrong, as such a note is malformed. */
const verifiedSignatures = async (
  note: SignedNote,
  keys: readonly VerifierKey[],
): Promise<readonly NoteSignature[]> => {
  const found: NoteSignature[] = [];
  for (const key of keys) {
    const verdict = await verifiedBy(ed25519Verify, note, key);
    if (verdict === "wrong") return [];
    if (verdict === "verified") found.push(...signaturesBy(note, key));
  }
  return found;
};
