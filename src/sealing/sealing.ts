import { utf8 } from "../../domain/evidence/bytes.ts";
import {
  accountOrigin,
  type Checkpoint,
  checkpointText,
  instanceOrigin,
  type LogName,
  parseOrigin,
} from "../../domain/evidence/checkpoint.ts";
import { EMPTY_FRONTIER, rootOf } from "../../domain/evidence/merkle.ts";
import {
  formatNote,
  type NoteSignature,
  parseSignatureLine,
  parseVerifierKey,
} from "../../domain/evidence/signed-note.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import {
  type EvidenceReads,
  INSTANCE_TREE,
  type InstanceState,
  type NamedSigningKey,
  type SealedHead,
} from "../../domain/ports/evidence-store.ts";
import type { KeyMapReads } from "../../domain/ports/key-map-store.ts";
import type { Signer } from "../../domain/ports/signer.ts";
import { KeyUnusable } from "../../infra/crypto/keyfile.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { logNameOf } from "../evidence/log-name.ts";
import { continues, isOfGeneration } from "./continues.ts";
import type { LastCheckpoint } from "./last-checkpoint.ts";

/** `starting`: this node has not folded all that was in the log when it started. Nothing is signed unless `sealing`. */
export type SealingState =
  | { readonly kind: "starting" | "sealing" }
  | { readonly kind: "stopped"; readonly reason: string };

/** A checkpoint with the signature of the log; `note` is the signed note, `text` what is signed. */
export type SignedCheckpoint = Checkpoint & { readonly text: string; readonly note: string };

/** Thrown instead of a signature. */
export class NothingSigned extends Error {
  override readonly name = "NothingSigned";
  readonly state: SealingState;
  constructor(state: SealingState) {
    super(state.kind === "stopped" ? state.reason : "the records are still being folded");
    this.state = state;
  }
}

export type SealingDeps = {
  readonly log: Pick<EventLog, "head">;
  readonly store: EvidenceReads & { readonly maps: Pick<KeyMapReads, "mapDifference"> };
  /** The node's key: the one with this public key if it has that, else the one that it has. */
  readonly signerFor: (vkey: string | null) => Signer;
  readonly last: Pick<LastCheckpoint, "read" | "remember" | "completeReopening">;
  /**
   * True if this node's folder alone has the key, so that a sealed log without the last checkpoint was restored. With a
   * key that several nodes share, the log may have been sealed by another one.
   */
  readonly isLastExpected?: boolean;
  readonly onState?: (state: SealingState) => void;
};

const stopped = (reason: string): SealingState => ({ kind: "stopped", reason });

const NOT_CONTINUED =
  "The log does not continue the last checkpoint that was shown: it was rolled back or replaced. If that was meant, run: countersign audit reopen --reason TEXT";

const LAST_MISSING =
  "The log was sealed before, and the last checkpoint that was shown is not beside the signing key. Put the newest audit-key.checkpoint there; if it is lost, the log was restored, and more may have been shown than it has: run countersign audit reopen --reason TEXT";

/** Signs what was read back from the log: nodes that race or crash sign the same bytes. */
export class Sealing {
  readonly #deps: SealingDeps;
  #state: SealingState = { kind: "starting" };
  /** The log's end when this node started; undefined before it was read. */
  #startHead: string | null | undefined;
  #isContinued = false;
  #newest: SignedCheckpoint | null = null;
  #contradiction: string | null = null;

  constructor(deps: SealingDeps) {
    this.#deps = deps;
  }

  /** As it was last judged. */
  state(): SealingState {
    return this.#state;
  }

  /** True unless this node has found a reason to sign nothing more. */
  healthy(): boolean {
    return this.#state.kind !== "stopped";
  }

  signer(vkey: string | null): Signer {
    return this.#deps.signerFor(vkey);
  }

  /** Nothing more is signed, because it is proved from outside that the log does not continue what it has signed. */
  contradicted(reason: string): void {
    this.#contradiction = reason;
  }

  async judge(): Promise<SealingState> {
    const instance = await this.#deps.store.instance();
    const state = await this.#judged(instance);
    const isNews = JSON.stringify(state) !== JSON.stringify(this.#state);
    this.#state = state;
    if (isNews) this.#deps.onState?.(state);
    return state;
  }

  /** Before the first seal: from then on a log without a checkpoint beside its key is known to be a restored one. */
  async begin(): Promise<void> {
    if (this.#deps.isLastExpected !== true) return;
    const signer = this.signer(null);
    const key = parseVerifierKey(sha256, signer.vkey);
    if (key === null) throw new KeyUnusable(`${signer.vkey} is no verifier key.`);
    // The key has the name of the first generation's tree.
    const checkpoint = { origin: key.name, size: 0, root: rootOf(sha256, EMPTY_FRONTIER) };
    const text = checkpointText(checkpoint.origin, checkpoint);
    const own = { name: key.name, keyId: key.keyId, signature: await signer.sign(utf8(text)) };
    await this.#deps.last.remember(formatNote({ text, signatures: [own] }), checkpoint);
  }

  /** After a crash of `audit reopen`, once all is folded. False if there was nothing to complete. */
  completeReopening(): Promise<boolean> {
    const { last, store } = this.#deps;
    return last.completeReopening((checkpoint) => isOfGeneration(store, checkpoint));
  }

  /** The newest instance checkpoint; null before the first seal. */
  async instance(): Promise<SignedCheckpoint | null> {
    const { instance, name } = await this.#readable();
    const head = await this.#deps.store.head(INSTANCE_TREE);
    if (name === null || head.size === 0) return null;
    if (this.#newest?.size === head.size && this.#newest.origin === instanceOrigin(name)) return this.#newest;
    const checkpoint = { origin: instanceOrigin(name), size: head.size, root: rootOf(sha256, head), extensions: [] };
    const signed = await this.#signed(checkpoint, instance);
    await this.#deps.last.remember(signed.note, checkpoint);
    this.#newest = signed;
    return signed;
  }

  /** The newest checkpoint of the account, or the first with more than `index` records; null if none is sealed. */
  async account(account: string, index?: number): Promise<(SignedCheckpoint & { readonly leaf: number }) | null> {
    const { store } = this.#deps;
    const head = index === undefined ? await store.newestSealed(account) : await store.firstSealed(account, index);
    return head === null ? null : { ...(await this.sign(head)), leaf: head.leaf };
  }

  /** The checkpoint of a sealed head. The instance checkpoint that covers it is remembered before. */
  async sign(head: SealedHead): Promise<SignedCheckpoint> {
    const { instance, name } = await this.#readable();
    const covering = await this.instance();
    if (name === null || covering === null || covering.size <= head.leaf) throw new NothingSigned({ kind: "starting" });
    const root = new Uint8Array(Buffer.from(head.root, "base64"));
    const origin = accountOrigin(name, head.account);
    return this.#signed({ origin, size: head.size, root, extensions: [] }, instance);
  }

  async #readable(): Promise<{ readonly instance: InstanceState; readonly name: LogName | null }> {
    const state = await this.judge();
    if (state.kind !== "sealing") throw new NothingSigned(state);
    const instance = await this.#deps.store.instance();
    return { instance, name: logNameOf(instance) };
  }

  async #signed(checkpoint: Checkpoint, { keys }: InstanceState): Promise<SignedCheckpoint> {
    const text = checkpointText(checkpoint.origin, checkpoint);
    const last = keys.at(-1);
    const signer = this.signer(last?.vkey ?? null);
    const key = parseVerifierKey(sha256, signer.vkey);
    if (last === undefined || key === null || signer.vkey !== last.vkey) throw new NothingSigned(await this.judge());
    const own = { name: key.name, keyId: key.keyId, signature: await signer.sign(utf8(text)) };
    return { ...checkpoint, text, note: formatNote({ text, signatures: [own, ...this.#handover(checkpoint, last)] }) };
  }

  /** The checkpoint that ends with the leaf of a new key has the signature of the key before it as well. */
  #handover(
    { origin, size }: Checkpoint,
    { leaf, previous, handover }: Pick<NamedSigningKey, "leaf" | "previous" | "handover">,
  ): readonly NoteSignature[] {
    const isInstance = parseOrigin(origin)?.account === null;
    const line =
      isInstance && size === leaf + 1 && handover !== null && previous === null
        ? parseSignatureLine(handover.split("\n")[0] ?? "")
        : null;
    return line === null ? [] : [line];
  }

  async #judged(instance: InstanceState): Promise<SealingState> {
    if (this.#contradiction !== null) return stopped(this.#contradiction);
    const { difference } = instance;
    if (difference !== null)
      return stopped(
        `The sealed root of ${difference.account} at ${difference.size} records is ${difference.sealed}, but the log leads to ${difference.folded ?? "fewer records"}.`,
      );
    const map = await this.#deps.store.maps.mapDifference();
    if (map !== null)
      return stopped(
        `The sealed key map of ${map.account} at ${map.size} records has the root ${map.sealed}, but the records lead to ${map.folded}.`,
      );
    if (!(await this.#isCaughtUp())) return { kind: "starting" };
    try {
      return await this.#judgedByKey(instance);
    } catch (error) {
      if (error instanceof KeyUnusable) return stopped(error.message);
      throw error;
    }
  }

  async #judgedByKey(instance: InstanceState): Promise<SealingState> {
    if (!this.#isContinued) {
      await this.completeReopening();
      // It is read after what is folded, so that another process of this node cannot have sealed in between.
      const shown = await this.#deps.last.read();
      if (shown === null && instance.keys.length > 0 && this.#deps.isLastExpected === true)
        return stopped(LAST_MISSING);
      if (!(await continues(this.#deps.store, shown))) return stopped(NOT_CONTINUED);
      this.#isContinued = true;
    }
    const last = instance.keys.at(-1);
    if (this.signer(last?.vkey ?? null).vkey !== (last?.vkey ?? this.signer(null).vkey))
      return stopped(`The log names another signing key, ${last?.vkey}: give this node that key.`);
    return { kind: "sealing" };
  }

  /** True once the store has folded what was in the log at the start, and has not been emptied since. */
  async #isCaughtUp(): Promise<boolean> {
    const { log, store } = this.#deps;
    if (this.#startHead === undefined) this.#startHead = await log.head("records");
    if (this.#startHead === null) return true;
    const position = (await store.origin())?.last?.position ?? "";
    return position >= this.#startHead;
  }
}
