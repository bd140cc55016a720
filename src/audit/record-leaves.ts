import { setTimeout as sleep } from "node:timers/promises";
import { toHex } from "../../domain/evidence/bytes.ts";
import { leafBytes, leafOf } from "../../domain/evidence/leaf.ts";
import { leafHash } from "../../domain/evidence/merkle.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { EvidenceDamaged, EvidenceUnavailable } from "../../infra/evidence-errors.ts";
import type { AccountEvidence } from "./account-evidence.ts";

/** `leaf_hash` is null while this node has not folded the record into its tree. */
export type LeafState = {
  readonly leaf_hash: string | null;
  readonly sealed: boolean;
  readonly witnessed: boolean;
};

export type LeafReads = Pick<AccountEvidence, "folded" | "links" | "covered" | "damaged">;

const UNKNOWN: LeafState = { leaf_hash: null, sealed: false, witnessed: false };

/** The tree is folded right after the views, so what a view has is in the tree within moments. */
const FOLD_WAIT_MS = 500;
const LOOK_MS = 20;

const foldedSoon = async (evidence: LeafReads, account: string, size: number): Promise<number> => {
  const end = performance.now() + FOLD_WAIT_MS;
  for (;;) {
    const folded = await evidence.folded(account);
    if (folded >= size || performance.now() >= end) return folded;
    await sleep(LOOK_MS);
  }
};

type Indexed = { readonly index: number; readonly event: RecordedEvent };

const statesBy = async (
  evidence: LeafReads,
  account: string,
  records: readonly Indexed[],
): Promise<ReadonlyMap<number, LeafState>> => {
  const folded = await foldedSoon(evidence, account, Math.max(0, ...records.map(({ index }) => index + 1)));
  const known = records.filter(({ index }) => index < folded);
  const indexes = known.map(({ index }) => index);
  const [links, { sealed, witnessed }] = [await evidence.links(account, indexes), await evidence.covered(account)];
  return new Map(
    known.map(({ index, event }, i) => {
      const leaf = leafBytes(leafOf(sha256, event, { index, keys: Object.fromEntries(links[i] ?? []) }));
      const hash = toHex(leafHash(sha256, leaf));
      return [index, { leaf_hash: hash, sealed: index < sealed, witnessed: index < witnessed }];
    }),
  );
};

/**
 * The hash is that of the record as the log has it now. While the tree is damaged, and folded anew, nothing is known of any
 * record; `evidence` is null on a node that folds none.
 */
export const withLeaves = async <T extends Indexed>(
  evidence: LeafReads | null,
  account: string,
  records: readonly T[],
): Promise<readonly (T & { readonly leaf: LeafState })[]> => {
  const known = async (): Promise<ReadonlyMap<number, LeafState>> => {
    if (evidence === null || records.length === 0) return new Map();
    try {
      return await statesBy(evidence, account, records);
    } catch (error) {
      if (error instanceof EvidenceDamaged) await evidence.damaged();
      if (error instanceof EvidenceDamaged || error instanceof EvidenceUnavailable) return new Map();
      throw error;
    }
  };
  const states = await known();
  return records.map((record) => ({ ...record, leaf: states.get(record.index) ?? UNKNOWN }));
};
