import { checkpointText, instanceOrigin, parseOrigin } from "../../domain/evidence/checkpoint.ts";
import { INSTANCE_STREAM, type InstanceEvent } from "../../domain/evidence/instance-events.ts";
import { append, EMPTY_FRONTIER, leafHash, rootOf } from "../../domain/evidence/merkle.ts";
import { formatNote, formatSignatureLine, type SignerKey, signatureOf } from "../../domain/evidence/signed-note.ts";
import { signingKeyLeaf } from "../../domain/evidence/signing-key.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { type EvidenceStore, INSTANCE_TREE, type InstanceState } from "../../domain/ports/evidence-store.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { ed25519Signer } from "../../infra/crypto/ed25519.ts";
import { KeyUnusable } from "../../infra/crypto/keyfile.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { logNameOf } from "../evidence/log-name.ts";
import { vkeyOf } from "../keys/signer-key.ts";
import { systemEnvelope, toEvents } from "../streams/envelope.ts";
import { foldToEnd } from "./folded-log.ts";
import { LastCheckpoint, lastCheckpointFileOf } from "./last-checkpoint.ts";
import { checkpointToReopen } from "./reopened.ts";
import { Sealing } from "./sealing.ts";
import {
  heldSigner,
  keepNextSigningKey,
  makeSigningKey,
  presentSigningKey,
  putSigningKeyInPlace,
  type SigningKeyPlace,
  signingKeyNamed,
} from "./signing-key.ts";

export type NewKeyDeps = {
  readonly log: EventLog;
  readonly store: EvidenceStore;
  readonly place: SigningKeyPlace;
  readonly clock: Clock;
  readonly randomness: Randomness;
};

/** A service that seals meanwhile makes an append conflict, and then it is decided anew. */
const TRIES = 20;

const sealingOf = ({ log, store, place, randomness }: NewKeyDeps): Sealing =>
  new Sealing({
    log,
    store,
    signerFor: heldSigner({ ...place, mayCreate: false }, () => "", randomness),
    last: new LastCheckpoint(lastCheckpointFileOf(place), randomness),
    isLastExpected: place.mayCreate,
  });

const appendKey = async (
  { log, clock }: NewKeyDeps,
  { revision }: InstanceState,
  data: Extract<InstanceEvent, { type: "SigningKeyNamed" }>["data"],
): Promise<boolean> => {
  const envelope = systemEnvelope({
    actor: "audit-command",
    commandId: `signing-key/${revision ?? "first"}/${data.vkey}`,
    at: new Date(clock.now()).toISOString(),
  });
  const events = toEvents([{ type: "SigningKeyNamed", data }], envelope);
  return (await log.append(INSTANCE_STREAM, revision ?? "absent", events)).outcome === "appended";
};

/**
 * The signatures of the present key and of the next one under the checkpoint that ends with the leaf of the next one.
 * Both are kept: after another rotation no node has the next one's private key any more.
 */
const handoverOf = async (
  { store }: NewKeyDeps,
  instance: InstanceState,
  { current, next, leaf }: { readonly current: SignerKey; readonly next: SignerKey; readonly leaf: Uint8Array },
): Promise<string> => {
  const head = append(sha256, await store.head(INSTANCE_TREE), leafHash(sha256, leaf));
  const name = logNameOf(instance);
  if (name === null) throw new KeyUnusable("Nothing was sealed yet.");
  const text = checkpointText(instanceOrigin(name), { size: head.size, root: rootOf(sha256, head) });
  const sign = (seed: Uint8Array, message: Uint8Array): Uint8Array => ed25519Signer(seed).sign(message);
  return [current, next].map((key) => formatSignatureLine(signatureOf(sign, text, key)).trimEnd()).join("\n");
};

const rotated = async (deps: NewKeyDeps, reason: string | null): Promise<string | null> => {
  const { store, place, randomness } = deps;
  await foldToEnd(deps.log, store);
  const instance = await store.instance();
  const named = instance.keys.at(-1);
  if (named === undefined)
    throw new KeyUnusable("Nothing was sealed with the present key yet: to get another one, delete its file.");
  const wasInterrupted = vkeyOf(presentSigningKey(place)) !== named.vkey;
  const current = signingKeyNamed(place, named.vkey, randomness);
  if (current === null) throw new KeyUnusable(`The log names another signing key than ${place.path} has.`);
  const state = await sealingOf(deps).judge();
  if (state.kind === "stopped") throw new KeyUnusable(state.reason);
  if (wasInterrupted) return named.vkey;
  // The key is in a file before the log names it: after a crash, the next start or rotation finds it there.
  const next = makeSigningKey(parseOrigin(current.name)?.host ?? "", randomness);
  keepNextSigningKey(place, next, randomness);
  const vkey = vkeyOf(next);
  const leaf = signingKeyLeaf({ vkey, previous: null, reason });
  const handover = await handoverOf(deps, instance, { current, next, leaf });
  if (!(await appendKey(deps, instance, { vkey, previous: null, reason, handover }))) return null;
  putSigningKeyInPlace(place, next, randomness);
  await foldToEnd(deps.log, store);
  await sealingOf(deps).instance();
  return vkey;
};

/** Replaces the signing key, or completes a rotation that was interrupted, and returns the public key in force. */
export const rotateSigningKey = async (deps: NewKeyDeps, reason: string | null): Promise<string> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const vkey = await rotated(deps, reason);
    if (vkey !== null) return vkey;
  }
  throw new Error("Others seal faster than the key can be replaced: run the command again.");
};

/**
 * The checkpoint that has the new generation's first leaf alone, signed. Exports carry its signature, so that whoever has a
 * checkpoint of the generation before learns why there is another one.
 */
const beginningOf = (
  key: SignerKey,
  leaf: { vkey: string; previous: string; reason: string },
): { readonly note: string; readonly handover: string } => {
  const head = append(sha256, EMPTY_FRONTIER, leafHash(sha256, signingKeyLeaf(leaf)));
  const name = logNameOf({ keys: [{ leaf: 0, ...leaf, handover: null }] });
  if (name === null) throw new KeyUnusable(`${leaf.vkey} names no log.`);
  const text = checkpointText(instanceOrigin(name), { size: head.size, root: rootOf(sha256, head) });
  const sign = (seed: Uint8Array, message: Uint8Array): Uint8Array => ed25519Signer(seed).sign(message);
  const signature = signatureOf(sign, text, key);
  return { note: formatNote({ text, signatures: [signature] }), handover: formatSignatureLine(signature).trimEnd() };
};

/**
 * Begins a new generation after a restore that was meant. `given` is the last checkpoint that is known of the earlier
 * one, as a signed note; without it, the one beside the key is taken. A reopening that was interrupted is completed.
 */
export const reopenLog = async (deps: NewKeyDeps, reason: string, given: string | null): Promise<string> => {
  const { store, place, randomness } = deps;
  await foldToEnd(deps.log, store);
  const instance = await store.instance();
  const isCompleted = await sealingOf(deps).completeReopening();
  // This also completes a rotation of the key that was interrupted.
  const state = await sealingOf(deps).judge();
  const key = presentSigningKey(place);
  const vkey = vkeyOf(key);
  if (isCompleted) return vkey;
  const path = lastCheckpointFileOf(place);
  const beside = new LastCheckpoint(path, randomness);
  const shown = await beside.read();
  const last = await checkpointToReopen(store, {
    state,
    key: { vkey, path: place.path },
    beside: { checkpoint: shown, path },
    given,
  });
  const previous = checkpointText(last.origin, last);
  const { note, handover } = beginningOf(key, { vkey, previous, reason });
  await beside.prepare(note);
  if (!(await appendKey(deps, instance, { vkey, previous, reason, handover })))
    throw new Error("A service is running on this log: stop every node, and run the command again.");
  await foldToEnd(deps.log, store);
  // This writes the checkpoint beside the key, where there may be none.
  await sealingOf({ ...deps, place: { ...place, mayCreate: false } }).instance();
  return vkey;
};
