import { createHmac } from "node:crypto";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import type { Json } from "../../domain/json.ts";

export type ActionIdentity = {
  readonly account: string;
  readonly agent: string;
  readonly action: string;
  /** The version of the action's definition, which includes its schema. */
  readonly version: number;
  readonly target: string | null;
  readonly payload: Json;
  readonly bundle?: { readonly index: number; readonly of: number };
};

/**
 * Hex HMAC-SHA-256 of the canonical form (RFC 8785), by which repetitions are recognised. It is recorded and outlives the
 * payload, so it has a key: else a short payload could be guessed from it.
 */
export const actionDigest = (
  key: Uint8Array,
  { account, agent, action, version, target, payload, bundle }: ActionIdentity,
): string =>
  createHmac("sha256", key)
    .update(canonicalJson({ account, agent, action, schema_version: version, target, payload, bundle: bundle ?? null }))
    .digest("hex");
