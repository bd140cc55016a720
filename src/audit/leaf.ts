import { createHash } from "node:crypto";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import { canonicalJson } from "../streams/canonical-json.ts";

/** Tells a leaf's hash from that of a node of the tree (RFC 6962, section 2.1). */
const LEAF_PREFIX = Uint8Array.of(0);

/** The record at an account's index, as it goes into its Merkle tree: UTF-8 of RFC 8785. */
export const leafBytes = (index: number, { stream, revision, id, type, data, meta }: RecordedEvent): Buffer =>
  // Metadata is plain JSON; a readonly type with a nested object is not an index signature to the compiler.
  Buffer.from(canonicalJson({ index, stream, revision, id, type, data, metadata: { ...meta } }));

/** SHA-256 of 0x00 and the leaf's bytes (RFC 6962, section 2.1), as hex. */
export const leafHash = (leaf: Uint8Array): string =>
  createHash("sha256").update(LEAF_PREFIX).update(leaf).digest("hex");
