import { hash } from "node:crypto";
import { type Reference, replaced } from "../../domain/bundle/results.ts";
import type { Json } from "../../domain/json.ts";
import { type ActionIdentity, actionDigest } from "../execute/digest.ts";
import { canonicalJson } from "../streams/canonical-json.ts";

type StepIdentity = Pick<ActionIdentity, "action" | "version" | "target" | "payload">;

export type BundleIdentity = {
  readonly account: string;
  readonly agent: string;
  readonly steps: readonly StepIdentity[];
};

/** Hex, one for each step: what an approval is bound to, with the place that it has among the others. */
export const stepDigests = ({ account, agent, steps }: BundleIdentity): readonly string[] =>
  steps.map((step, index) => actionDigest({ account, agent, ...step, bundle: { index, of: steps.length } }));

/** Hex SHA-256 over the canonical form (RFC 8785) of whose bundle it is and its steps' digests in their order. */
export const bundleDigest = (account: string, agent: string, digests: readonly string[]): string =>
  hash("sha256", canonicalJson({ account, agent, steps: digests }));

/**
 * Hex, one for each step: what repetitions are told by, the same wherever the step stands and whether it is asked for in a
 * bundle or by itself. A result that it uses is what the step that gives it is, as it is not known yet.
 */
export const samenessDigests = ({ account, agent, steps }: BundleIdentity): readonly string[] => {
  const known: string[] = [];
  for (const step of steps) {
    const traced = ({ step: from, pointer }: Reference): Json => ({ $result: { of: known[from] ?? null, pointer } });
    known.push(actionDigest({ account, agent, ...step, payload: replaced(step.payload, traced) }));
  }
  return known;
};
