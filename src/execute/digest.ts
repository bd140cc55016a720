import { hash } from "node:crypto";
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

/** Hex SHA-256 of the canonical form (RFC 8785). Approvals are bound to it, and repetitions recognised by it. */
export const actionDigest = ({ account, agent, action, version, target, payload, bundle }: ActionIdentity): string =>
  hash(
    "sha256",
    canonicalJson({ account, agent, action, schema_version: version, target, payload, bundle: bundle ?? null }),
  );
