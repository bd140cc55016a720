/** The lines of an export (NDJSON). Members are base64 unless stated otherwise. */

/** The filters of an export, as they were asked for. A filter by exactly one key can prove that nothing is missing. */
export type ExportFilter = Readonly<Record<string, string>>;

/** A verifier believes nothing of it: it says what the file is meant to be. */
export type HeaderLine = {
  readonly kind: "header";
  readonly account: string;
  readonly origin: string;
  /** The verifier key, as signed-note has it. */
  readonly key: string;
  readonly from_index: number;
  /** Exclusive. */
  readonly to_index: number;
  /** Null if the records are all from `from_index` to `to_index`. */
  readonly filter: ExportFilter | null;
  /** Present if payloads were asked for: then one that is neither there nor erased was withheld. */
  readonly payloads?: true;
};

export type RecordLine = {
  readonly kind: "record";
  readonly index: number;
  readonly leaf: string;
  /** With it a verifier can name the record that was changed; without, only the records between two checkpoints. */
  readonly leaf_hash?: string;
};

/**
 * In an export that proves that it has all records of a key: a record that the key map does not cover, of this or another
 * key. A verifier sees all of them, but for the record that seals the map, which is a `record` line before them. One of this
 * key is followed by its payloads, as a `record` line is.
 */
export type TailLine = { readonly kind: "tail"; readonly index: number; readonly leaf: string };

/** `index` is that of the range's first or last record, and absent in a filtered export. */
export type ProofLine = { readonly kind: "proof"; readonly index?: number; readonly hashes: readonly string[] };

export type MapLine = {
  readonly kind: "map";
  readonly key: string;
  /** How many records of the key the map knows: 0 if it proves that there is none. */
  readonly number: number;
  readonly last: number | null;
  /** From the root downwards. */
  readonly hashes: readonly string[];
  /** Where the path of an absent key ends at another key. `key_hash` is hex. */
  readonly other?: { readonly key_hash: string; readonly number: number; readonly last: number };
};

/** It follows a record that names its commitment by `id`, and may come again after another one that does. */
export type PayloadLine = {
  readonly kind: "payload";
  readonly id: string;
  readonly salt: string;
  readonly bytes: string;
};

/**
 * The record of an erasure that the export does not have among its own records, with its path to the checkpoint at the
 * end: what it erased is not withheld.
 */
export type ErasureLine = {
  readonly kind: "erasure";
  readonly index: number;
  readonly leaf: string;
  readonly hashes: readonly string[];
};

/** `leaf` names a key (`signing-key.ts`); `proof` is the tlog-proof of the checkpoint that ends with it, as text. */
export type HandoverLine = { readonly kind: "handover"; readonly leaf: string; readonly proof: string };

/** `text` is that of an account's checkpoint, `proof` its tlog-proof in a cosigned instance checkpoint, both as text. */
export type CosignedLine = {
  readonly kind: "cosigned";
  readonly text: string;
  readonly proof: string;
  /** From this checkpoint to the one at the end, where the records of the file do not give this one. */
  readonly consistency?: readonly string[];
};

/** `text` is the signed note, as text; `count` is the number of records in the file. */
export type CheckpointLine = { readonly kind: "checkpoint"; readonly text: string; readonly count: number };

export type ExportLine =
  | HeaderLine
  | RecordLine
  | TailLine
  | ProofLine
  | MapLine
  | PayloadLine
  | ErasureLine
  | HandoverLine
  | CosignedLine
  | CheckpointLine;
