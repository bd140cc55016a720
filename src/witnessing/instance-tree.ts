import type { TreeHead } from "../../domain/evidence/merkle.ts";
import type { VerifierKey } from "../../domain/evidence/signed-note.ts";

/** The instance tree, as this node has folded and signed it. */
export type InstanceTree = {
  /** The newest checkpoint with the log's signatures; null before the first seal, and while nothing is signed. */
  checkpoint(): Promise<InstanceCheckpoint | null>;
  /** False while this node may not have folded all that was sealed before the call. */
  isCurrent(): Promise<boolean>;
  /** Of the newest generation; null before the first seal. */
  origin(): Promise<string | null>;
  /** The hashes of a consistency proof between two sizes, which are at most that of the newest checkpoint. */
  consistency(from: number, to: number): Promise<readonly Uint8Array[]>;
  /** Null if this node has not folded so many leaves. */
  rootAt(size: number): Promise<Uint8Array | null>;
  /** All keys that have signed this generation of the log. */
  keys(): Promise<readonly VerifierKey[]>;
};

export type InstanceCheckpoint = TreeHead & { readonly origin: string; readonly note: string };
