import { createHash } from "node:crypto";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";

/** The prefix distinguishes the leaves of the Merkle tree from its inner nodes (RFC 6962, section 2.1). */
const LEAF_PREFIX = Uint8Array.of(0);

/** A leaf is the record's canonical JSON (RFC 8785) with its index in the account, in UTF-8. */
export const leafBytes = (index: number, { stream, revision, id, type, data, meta }: RecordedEvent): Buffer =>
  // The compiler does not take metadata, a readonly type with a nested object, for JSON.
  Buffer.from(canonicalJson({ index, stream, revision, id, type, data, metadata: { ...meta } }));

export const leafHash = (leaf: Uint8Array): string =>
  createHash("sha256").update(LEAF_PREFIX).update(leaf).digest("hex");
