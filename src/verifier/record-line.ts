import { sameBytes } from "../../domain/evidence/bytes.ts";
import type { RecordLine } from "../../domain/evidence/export-lines.ts";
import { type Leaf, type LeafFailure, readLeaf } from "../../domain/evidence/leaf.ts";
import { leafHash } from "../../domain/evidence/merkle.ts";
import { wrongKeys } from "./links.ts";
import type { Platform } from "./platform.ts";
import type { ScannedRecord } from "./record-scan.ts";
import { type Fault, fault } from "./report.ts";

const LEAF_FAULTS: Readonly<Record<LeafFailure, string>> = {
  "not-utf8": "its bytes are not UTF-8",
  "not-json": "its bytes are not JSON",
  "not-canonical": "its bytes are not the canonical form (RFC 8785) of what they say",
  "lone-surrogate": "it has half a surrogate pair",
  "unknown-version": "it is a leaf of another version than 1",
  "wrong-members": "it does not have the members of a leaf",
};

export const leafFault = (failure: LeafFailure): string => LEAF_FAULTS[failure];

export type ReadRecord = { readonly leaf: Leaf; readonly hash: Uint8Array };
type Read = ReadRecord | { readonly fault: Fault };

/** What a line says, in bytes. */
type LineParts = {
  readonly index: number;
  readonly bytes: Uint8Array;
  readonly hash: Uint8Array;
  /** The hash that the line says, null if it is not base64; undefined if it says none. */
  readonly claimed: Uint8Array | null | undefined;
};

const checked = ({ index, bytes, hash, claimed }: LineParts, account: string): Read => {
  if (claimed !== undefined && (claimed === null || !sameBytes(claimed, hash)))
    return { fault: fault("its leaf is not the one that the export was made with", index) };
  const leaf = readLeaf(bytes);
  if (typeof leaf === "string") return { fault: fault(LEAF_FAULTS[leaf], index) };
  if (leaf.index !== index) return { fault: fault(`its leaf is that of the record ${leaf.index}`, index) };
  if (leaf.account !== account) return { fault: fault(`its leaf is one of the account ${leaf.account}`, index) };
  const wrong = wrongKeys(leaf);
  return wrong === null ? { leaf, hash } : { fault: fault(wrong, index) };
};

/** The record that the line has, if it is exactly a leaf of the account at the index that the line says. */
export const readRecord = ({ sha256, fromBase64 }: Platform, line: RecordLine, account: string): Read => {
  const { index } = line;
  const bytes = fromBase64(line.leaf);
  if (bytes === null) return { fault: fault("its leaf is not base64", index) };
  const claimed = line.leaf_hash === undefined ? undefined : fromBase64(line.leaf_hash);
  return checked({ index, bytes, hash: leafHash(sha256, bytes), claimed }, account);
};

/** The same of a line that was read from its bytes. */
export const readScanned = ({ sha256 }: Platform, scanned: ScannedRecord, account: string): Read => {
  const { index, prefixedLeaf, leafHash: claimed } = scanned;
  return checked(
    { index, bytes: prefixedLeaf.subarray(1), hash: sha256(prefixedLeaf), claimed: claimed ?? undefined },
    account,
  );
};
