import { hash } from "node:crypto";
import type { Json } from "../../domain/json.ts";
import { canonicalJson } from "../streams/canonical-json.ts";

export type ActionIdentity = {
  readonly account: string;
  readonly agent: string;
  readonly action: string;
  /** Of the action's definition, and with it of its schema. */
  readonly version: number;
  readonly target: string | null;
  readonly payload: Json;
  /** Of a bundle's step. */
  readonly bundle?: { readonly index: number; readonly of: number };
};

/** Hex SHA-256 over the canonical form (RFC 8785): what an approval is bound to, and repetitions are told by. */
export const actionDigest = ({ account, agent, action, version, target, payload, bundle }: ActionIdentity): string =>
  hash(
    "sha256",
    canonicalJson({ account, agent, action, schema_version: version, target, payload, bundle: bundle ?? null }),
  );
