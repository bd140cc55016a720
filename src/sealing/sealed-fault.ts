import { sameBytes, toBase64 } from "../../domain/evidence/bytes.ts";
import type { Checkpoint } from "../../domain/evidence/checkpoint.ts";
import { leafBytes, leafOf } from "../../domain/evidence/leaf.ts";
import { leafHash } from "../../domain/evidence/merkle.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import {
  type EvidenceReads,
  INSTANCE_TREE,
  type SealedHead,
  type TreeName,
} from "../../domain/ports/evidence-store.ts";
import type { KeyMapReads } from "../../domain/ports/key-map-store.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { isRecord } from "../../projections/audit.ts";
import { leafHashAt, rootAt } from "../evidence/tree-reads.ts";
import { pageSize } from "../following/page-size.ts";
import { continues } from "./continues.ts";

/** What a node has folded of the log before, which has the leaf of each record. */
export type Reference = EvidenceReads & { readonly maps: Pick<KeyMapReads, "recordLinks"> };

/** `replaced`: changed, or after several that were removed or inserted. */
type How = "changed" | "removed" | "inserted" | "exchanged" | "cut-off" | "replaced";

export type SealedFault =
  /** The first record of the account that is not the one that was sealed; null if the log has none at this index. */
  | {
      readonly kind: "record";
      readonly account: string;
      readonly index: number;
      readonly how: How;
      readonly record: RecordedEvent | null;
    }
  /** One of these records; `to` is exclusive. Without a reference, nothing tells which. */
  | { readonly kind: "range"; readonly account: string; readonly from: number; readonly to: number }
  /** All records that it covers are as they were sealed, but this seal was changed or is gone. */
  | { readonly kind: "seal"; readonly leaf: number }
  /** The log does not lead to a checkpoint that was shown. */
  | { readonly kind: "checkpoint"; readonly size: number };

export type Known = {
  readonly reference: Reference | null;
  /** The newest instance checkpoint that was shown to anyone. */
  readonly shown: Checkpoint | null;
};

type Sealed = Pick<SealedHead, "account" | "size" | "root">;
/** `own` is folded from the log as it is now, by this program and just now. */
type Compared = { readonly log: Pick<EventLog, "readAll">; readonly own: EvidenceReads };

const PAGE_MAX = 4_096;

const rootIn = async (store: EvidenceReads, tree: TreeName, size: number): Promise<Uint8Array | null> =>
  size > (await store.head(tree)).size ? null : rootAt(store, tree, size);

/** The smallest size from 1 to `size` at which the trees differ; null if they are the same up to there. */
const firstDifference = async (
  own: EvidenceReads,
  reference: EvidenceReads,
  { tree, size }: { readonly tree: TreeName; readonly size: number },
): Promise<number | null> => {
  const agree = async (at: number): Promise<boolean> => {
    const [a, b] = [await rootIn(own, tree, at), await rootIn(reference, tree, at)];
    return a !== null && b !== null && sameBytes(a, b);
  };
  if (await agree(size)) return null;
  // Trees that agree at a size agree at every smaller one.
  let [same, different] = [0, size];
  while (different - same > 1) {
    const middle = Math.floor((same + different) / 2);
    if (await agree(middle)) same = middle;
    else different = middle;
  }
  return different;
};

const recordsAt = async (
  log: Compared["log"],
  account: string,
  from: number,
  count: number,
): Promise<readonly RecordedEvent[]> => {
  const found: RecordedEvent[] = [];
  const size = pageSize(PAGE_MAX);
  let index = 0;
  for (let at: string | null = null; found.length < count; ) {
    const page: readonly RecordedEvent[] = await log.readAll(at, size.events(), "records");
    if (page.length === 0) break;
    size.learn(page);
    for (const record of page) {
      if (!isRecord(record) || record.meta.account !== account) continue;
      if (index >= from && found.length < count) found.push(record);
      index += 1;
    }
    at = page.at(-1)?.position ?? null;
  }
  return found;
};

/** Whether this record was the one at this index when it was folded. */
const wasAt = async (
  reference: Reference,
  index: number,
  record: RecordedEvent | undefined,
  account: string,
): Promise<boolean> => {
  if (record === undefined || index >= (await reference.head(account)).size) return false;
  const [links = []] = await reference.maps.recordLinks(account, [index]);
  const leaf = leafBytes(leafOf(sha256, record, { index, keys: Object.fromEntries(links) }));
  return sameBytes(leafHash(sha256, leaf), await leafHashAt(reference, account, index));
};

const badRecord = async (
  { log }: Compared,
  reference: Reference,
  { account, index }: { readonly account: string; readonly index: number },
): Promise<SealedFault> => {
  const [record, next] = await recordsAt(log, account, index, 2);
  const how = async (): Promise<How> => {
    if (record === undefined) return "cut-off";
    const wasNext = await wasAt(reference, index + 1, record, account);
    if (await wasAt(reference, index, next, account)) return wasNext ? "exchanged" : "inserted";
    if (wasNext) return "removed";
    return next === undefined || (await wasAt(reference, index + 1, next, account)) ? "changed" : "replaced";
  };
  return { kind: "record", account, index, how: await how(), record: record ?? null };
};

/** The size of the account's last seal before this one; the log still leads to it, as this is the first it does not lead to. */
const sealedBefore = async ({ own }: Compared, { account, size }: Sealed): Promise<number> => {
  let before = 0;
  for (;;) {
    const head = await own.firstSealed(account, before);
    if (head === null || head.size >= size) return before;
    before = head.size;
  }
};

const faultOf = async (
  compared: Compared,
  reference: Reference | null,
  sealed: Sealed & { readonly leaf: number | null },
): Promise<SealedFault> => {
  const { account, size, root, leaf } = sealed;
  const proven = reference === null ? null : await rootIn(reference, account, size);
  if (reference === null || proven === null || toBase64(proven) !== root)
    return { kind: "range", account, from: await sealedBefore(compared, sealed), to: size };
  const different = await firstDifference(compared.own, reference, { tree: account, size });
  if (different === null) return { kind: "seal", leaf: leaf ?? 0 };
  return badRecord(compared, reference, { account, index: different - 1 });
};

/** The first seal that the reference has folded and the log lacks or has otherwise. */
const sealFault = async (compared: Compared, reference: Reference): Promise<SealedFault | null> => {
  const { size } = await reference.head(INSTANCE_TREE);
  const different = await firstDifference(compared.own, reference, { tree: INSTANCE_TREE, size });
  if (different === null) return null;
  const leaf = different - 1;
  const head = await reference.sealedAt(leaf);
  return head === null ? { kind: "seal", leaf } : faultOf(compared, reference, head);
};

/** Both begin with the same signing key: `log copy` and a restore keep it, and another generation has another. */
const isOfOneLog = async (own: EvidenceReads, reference: EvidenceReads): Promise<boolean> => {
  const [[a], [b]] = [(await own.instance()).keys, (await reference.instance()).keys];
  return a !== undefined && b !== undefined && a.vkey === b.vkey && a.previous === b.previous;
};

/**
 * The first thing in the log that is not as it was sealed; null if there is none. The seals in the log tell a record that
 * was changed and no more; whoever rewrites them as well is found by the reference or by the checkpoint.
 */
export const firstSealedFault = async (
  compared: Compared,
  { reference, shown }: Known,
): Promise<SealedFault | null> => {
  const { own } = compared;
  const comparable = reference !== null && (await isOfOneLog(own, reference)) ? reference : null;
  const { difference } = await own.instance();
  if (difference !== null) {
    const { account, size, sealed: root } = difference;
    return faultOf(compared, comparable, { account, size, root, leaf: null });
  }
  const fault = comparable === null ? null : await sealFault(compared, comparable);
  if (fault !== null || shown === null || (await continues(own, shown))) return fault;
  return { kind: "checkpoint", size: shown.size };
};
