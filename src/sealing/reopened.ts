import { type Checkpoint, instanceOrigin, parseCheckpoint, parseOrigin } from "../../domain/evidence/checkpoint.ts";
import { rootOf } from "../../domain/evidence/merkle.ts";
import {
  parseNote,
  parseVerifierKey,
  type SignedNote,
  signaturesBy,
  verifiedBy,
} from "../../domain/evidence/signed-note.ts";
import { type EvidenceReads, INSTANCE_TREE } from "../../domain/ports/evidence-store.ts";
import { ed25519Verify } from "../../infra/crypto/ed25519.ts";
import { KeyUnusable } from "../../infra/crypto/keyfile.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { logNameOf } from "../evidence/log-name.ts";
import { continues } from "./continues.ts";
import type { SealingState } from "./sealing.ts";

/** What `audit reopen` was given, and what it has found. `vkey` is that of the key in the file `path`. */
export type ReopenInput = {
  readonly state: SealingState;
  readonly key: { readonly vkey: string; readonly path: string };
  /** The checkpoint beside the key, and where it is; null if there is none. */
  readonly beside: { readonly checkpoint: Checkpoint | null; readonly path: string };
  /** The signed note that the operator has given; null if none. */
  readonly given: string | null;
};

const generationOf = ({ origin }: Pick<Checkpoint, "origin">): number => parseOrigin(origin)?.generation ?? 0;

const byAge = (one: Checkpoint, other: Checkpoint): number =>
  generationOf(one) - generationOf(other) || one.size - other.size;

/** The log's own newest checkpoint; null before the first seal. */
const ownCheckpoint = async (store: EvidenceReads): Promise<Checkpoint | null> => {
  const name = logNameOf(await store.instance());
  if (name === null) return null;
  const head = await store.head(INSTANCE_TREE);
  return { origin: instanceOrigin(name), size: head.size, root: rootOf(sha256, head), extensions: [] };
};

/**
 * Refuses a note that no key of the log has signed. Only a key that the log has never named may follow one that is not
 * known: an older key would have been brought back by a restore, and the log would go on with a key that was replaced.
 */
const checkSigner = async (note: SignedNote, vkeys: readonly string[], { vkey, path }: ReopenInput["key"]) => {
  for (const text of new Set([...vkeys, vkey])) {
    const key = parseVerifierKey(sha256, text);
    if (key === null || signaturesBy(note, key).length === 0) continue;
    if ((await verifiedBy(ed25519Verify, note, key)) === "verified") return;
    throw new KeyUnusable("The signature of the given checkpoint is wrong: it is not a checkpoint of this log.");
  }
  if (vkeys.includes(vkey))
    throw new KeyUnusable(
      `The given checkpoint is signed with a key that neither this log nor ${path} has: the key was replaced after the backup was made. Put the newest signing key into ${path}; if it is lost, put a new one there (countersign audit make-key).`,
    );
};

const givenCheckpoint = async (store: EvidenceReads, { given, key }: ReopenInput): Promise<Checkpoint | null> => {
  if (given === null) return null;
  const note = parseNote(given);
  const checkpoint = parseCheckpoint(note?.text ?? "");
  const origin = checkpoint === null ? null : parseOrigin(checkpoint.origin);
  if (note === null || checkpoint === null) throw new KeyUnusable("The given checkpoint is no signed checkpoint.");
  if (origin === null || origin.account !== null)
    throw new KeyUnusable(
      `The given checkpoint is of ${checkpoint.origin}: give one of the installation, as /v1/audit/instance/checkpoint answers it.`,
    );
  const instance = await store.instance();
  const host = logNameOf(instance)?.host ?? parseOrigin(parseVerifierKey(sha256, key.vkey)?.name ?? "")?.host;
  if (origin.host !== host)
    throw new KeyUnusable(`The given checkpoint is of ${origin.host}, and this log is that of ${host}.`);
  await checkSigner(
    note,
    instance.keys.map(({ vkey }) => vkey),
    key,
  );
  return checkpoint;
};

/** The last checkpoint that a new generation has to name. Throws if the log goes on from all that is known. */
export const checkpointToReopen = async (store: EvidenceReads, input: ReopenInput): Promise<Checkpoint> => {
  const { state, key, beside } = input;
  const { keys } = await store.instance();
  if (keys.some(({ vkey }) => vkey === key.vkey) && keys.at(-1)?.vkey !== key.vkey)
    throw new KeyUnusable(`The key in ${key.path} was replaced by a rotation: put the newest signing key there.`);
  const given = await givenCheckpoint(store, input);
  if (await continues(store, given)) {
    if (state.kind !== "stopped")
      throw new KeyUnusable("The log continues the last checkpoint that was shown: there is nothing to reopen.");
    if (given !== null && beside.checkpoint === null)
      throw new KeyUnusable(
        `The log continues the given checkpoint: there is nothing to reopen. If nobody has a newer one, put it into ${beside.path} and start the service.`,
      );
  }
  const lost: Checkpoint[] = [];
  for (const known of [given, beside.checkpoint])
    if (known !== null && !(await continues(store, known))) lost.push(known);
  const previous = lost.sort(byAge).at(-1) ?? (await ownCheckpoint(store));
  if (previous === null) throw new KeyUnusable("No earlier checkpoint is known: nothing was sealed yet.");
  return previous;
};
