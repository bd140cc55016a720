import { euro } from "../../design/format.ts";
import type { Gate, PolicyRef } from "./gate-words.ts";

/** What the verdict on a bundle says of what it refused; the API does not describe its shape. Pure. */

const isGate = (it: unknown): it is Gate =>
  typeof it === "object" && it !== null && "gate" in it && "outcome" in it && "code" in it && "detail" in it;

/** The policy that a gate or a verdict names; null if it names none. */
export const policyIn = (it: unknown): PolicyRef | null => {
  const policy: unknown = typeof it === "object" && it !== null && "policy" in it ? it.policy : null;
  if (typeof policy !== "object" || policy === null || !("id" in policy && "version" in policy)) return null;
  const { id, version } = policy;
  return typeof id === "string" && typeof version === "number" ? { id, version } : null;
};

/** The service counts the steps of a bundle from zero, people from one. */
const countedFromOne = (detail: string): string =>
  detail.replaceAll(/\bstep (\d+): /g, (_, index: string) => `step ${Number(index) + 1}: `);

const refusingIn = (verdict: unknown): readonly Gate[] => {
  const gates = typeof verdict === "object" && verdict !== null && "gates" in verdict ? verdict.gates : [];
  return (Array.isArray(gates) ? gates : []).filter((it) => isGate(it) && it.outcome === "deny");
};

/** The gate that refused a bundle, and its policy. */
export const refusingGate = (verdict: unknown): { readonly gate: Gate; readonly policy: PolicyRef | null } | null => {
  const [gate] = refusingIn(verdict);
  if (gate === undefined) return null;
  return { gate: { ...gate, detail: countedFromOne(gate.detail) }, policy: gate.policy ?? policyIn(verdict) };
};

/** "No cost" if no policy and no action of its steps sets one. */
export const bundleCost = ({
  cost_eur: cost,
  verdict,
}: {
  readonly cost_eur: number | null;
  readonly verdict: unknown;
}) => {
  if (cost !== null) return euro(cost);
  return refusingIn(verdict).some(({ code }) => code === "cost-unknown") ? "Cost unknown" : "No cost";
};

/** A gate joins what it found at several steps. */
const OF_STEPS = /(?:^|; )step (\d+): /;

/** Why each step was refused, by its index; empty if gates refused the bundle as a whole, such as its budget. */
export const refusedSteps = (verdict: unknown): ReadonlyMap<number, string> => {
  const found = new Map<number, string>();
  for (const { detail } of refusingIn(verdict)) {
    const [, ...parts] = detail.split(OF_STEPS);
    for (let at = 0; at + 1 < parts.length; at += 2) {
      const [index, why = ""] = [Number(parts[at]), parts[at + 1]];
      const before = found.get(index);
      found.set(index, before === undefined ? why : `${before}; ${why}`);
    }
  }
  return found;
};
