import { formatAddCheckpoint } from "../../domain/evidence/add-checkpoint.ts";
import { sameBytes, toHex, utf8 } from "../../domain/evidence/bytes.ts";
import { type Checkpoint, parseCheckpoint, parseSize } from "../../domain/evidence/checkpoint.ts";
import { cosignedBy } from "../../domain/evidence/cosignature.ts";
import {
  type NoteSignature,
  parseNote,
  signaturesBy,
  type VerifierKey,
  verifiedBy,
} from "../../domain/evidence/signed-note.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import { ed25519Verify } from "../../infra/crypto/ed25519.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import type { LimitedAnswer, LimitedCall } from "../../infra/http/limited-call.ts";
import type { InstanceCheckpoint, InstanceTree } from "./instance-tree.ts";

export type WitnessOutcome =
  | { readonly outcome: "cosigned"; readonly signatures: readonly NoteSignature[] }
  /** `problem` completes a sentence that begins with the witness. */
  | { readonly outcome: "failed"; readonly problem: string }
  /** The witness has shown a checkpoint, signed with this log's key, that this log does not continue. */
  | { readonly outcome: "contradicted"; readonly checkpoint: Checkpoint };

export type WitnessClientOptions = {
  readonly key: VerifierKey;
  /** The submission prefix, without a slash at the end. */
  readonly url: string;
  readonly call: (call: LimitedCall) => Promise<LimitedAnswer>;
  /** Ends a call that is under way. */
  readonly signal: AbortSignal;
  readonly tree: InstanceTree;
  readonly clock: Clock;
};

const TIMEOUT_MS = 10_000;
const BYTES_MAX = 65_536;
/** A witness may name its size once, or twice if another node submits in between. */
const TRIES_MAX = 3;
/** Seconds by which the time of a cosignature may be ahead of this machine's clock. */
const AHEAD_S_MAX = 300;

const failed = (problem: string): WitnessOutcome => ({ outcome: "failed", problem });

/** Submits checkpoints to one witness, and remembers what it saw last. */
export class WitnessClient {
  readonly #options: WitnessClientOptions;
  #size = 0;

  constructor(options: WitnessClientOptions) {
    this.#options = options;
  }

  async submit(checkpoint: InstanceCheckpoint): Promise<WitnessOutcome> {
    const { url, call, tree, signal } = this.#options;
    if (this.#size > checkpoint.size) this.#size = 0;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const oldSize = this.#size;
      const proof = await tree.consistency(oldSize, checkpoint.size);
      const body = formatAddCheckpoint({ oldSize, proof, note: checkpoint.note });
      const sent = { method: "POST", body, timeoutMs: TIMEOUT_MS, bytesMax: BYTES_MAX, signal } as const;
      const answer = await call({ url: `${url}/add-checkpoint`, ...sent });
      if (!answer.ok) return failed(answer.problem);
      if (answer.status === 200) return this.#cosigned(checkpoint, answer.body);
      if (answer.status === 422)
        return this.#contradiction(checkpoint, "says that it knows another history of this log");
      if (answer.status !== 409) return failed(`refuses the checkpoint with the status ${answer.status}`);
      const size = parseSize(answer.body.trimEnd());
      if (size === null || size === oldSize) return failed("answers that it knows another size, and names none");
      if (size > checkpoint.size)
        return this.#contradiction(
          checkpoint,
          `says that it knows this log with ${size} leaves, not ${checkpoint.size}`,
        );
      this.#size = size;
    }
    return failed("names another size at each call");
  }

  async #cosigned(checkpoint: InstanceCheckpoint, body: string): Promise<WitnessOutcome> {
    const { key, clock } = this.#options;
    const note = parseNote(checkpoint.note + body);
    if (note === null) return failed("answers with something else than signatures");
    const verdict = await cosignedBy(ed25519Verify, note, key);
    if (verdict === "absent") return failed("has not signed with the key that is configured for it");
    if (verdict === "wrong") return failed("has answered with a wrong signature");
    if (verdict.time > clock.now() / 1_000 + AHEAD_S_MAX) return failed("has signed a time that has not come yet");
    this.#size = checkpoint.size;
    return { outcome: "cosigned", signatures: signaturesBy(note, key).slice(0, 1) };
  }

  /**
   * Anyone can claim to know another history. It is believed only with a checkpoint that this log's own key has signed,
   * which a witness shows at its monitoring prefix; here that is the submission prefix.
   */
  async #contradiction(own: InstanceCheckpoint, claim: string): Promise<WitnessOutcome> {
    this.#size = 0;
    const { url, call, tree, signal } = this.#options;
    const shownAt = `${url}/${toHex(sha256(utf8(own.origin)))}/checkpoint`;
    const answer = await call({ url: shownAt, method: "GET", timeoutMs: TIMEOUT_MS, bytesMax: BYTES_MAX, signal });
    const note = answer.ok && answer.status === 200 ? parseNote(answer.body) : null;
    const shown = note === null ? null : parseCheckpoint(note.text);
    if (note === null || shown?.origin !== own.origin) return failed(`${claim}, and shows no proof`);
    const verdicts = await Promise.all((await tree.keys()).map((key) => verifiedBy(ed25519Verify, note, key)));
    if (!verdicts.includes("verified")) return failed(`${claim}, and shows a checkpoint that this log has not signed`);
    const root = await tree.rootAt(shown.size);
    if (root !== null && sameBytes(root, shown.root)) return failed(`${claim}, but shows a part of this log`);
    return { outcome: "contradicted", checkpoint: shown };
  }
}
