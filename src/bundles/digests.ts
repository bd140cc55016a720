import { hash } from "node:crypto";
import { type Reference, withReplacedReferences } from "../../domain/bundle/results.ts";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import type { Json } from "../../domain/json.ts";
import { type ActionIdentity, actionDigest } from "../execute/digest.ts";

type StepIdentity = Pick<ActionIdentity, "action" | "version" | "target" | "payload">;

export type BundleIdentity = {
  /** The key of the digests. */
  readonly key: Uint8Array;
  readonly account: string;
  readonly agent: string;
  readonly steps: readonly StepIdentity[];
};

/** Hex. A repeat of the request must have these digests, each of which includes the step's place in the bundle. */
export const stepDigests = ({ key, account, agent, steps }: BundleIdentity): readonly string[] =>
  steps.map((step, index) => actionDigest(key, { account, agent, ...step, bundle: { index, of: steps.length } }));

/** Hex SHA-256 over the canonical JSON (RFC 8785) of the account, the agent and the steps' digests. */
export const bundleDigest = (account: string, agent: string, digests: readonly string[]): string =>
  hash("sha256", canonicalJson({ account, agent, steps: digests }));

/**
 * Hex. The loop gate counts repetitions by these digests, so they leave out the step's place in the bundle. In a
 * payload, the digest of the step that will produce a result stands for the result.
 */
export const samenessDigests = ({ key, account, agent, steps }: BundleIdentity): readonly string[] => {
  const known: string[] = [];
  for (const step of steps) {
    const traced = ({ step: from, pointer }: Reference): Json => ({ $result: { of: known[from] ?? null, pointer } });
    known.push(actionDigest(key, { account, agent, ...step, payload: withReplacedReferences(step.payload, traced) }));
  }
  return known;
};
