import type { CostRule } from "../policy/definition.ts";
import { type FieldPath, parseFieldPath, readField } from "./field-path.ts";

/** One euro in the integers that all money is counted in. */
export const MICRO_PER_EUR = 1_000_000;
/** Far above any real request, and so many micro-euros are still exact in a double. */
export const EUR_MAX = 1_000_000_000;

/** The cost rule of a policy or an action, its amounts in micro-euros. */
export type CompiledCost =
  | { readonly fixed: number }
  | { readonly path: FieldPath; readonly scale: number; readonly fallback: number | null };

/**
 * Euros as integer micro-euros, rounded to the nearest (half up): 0.07 is exactly 70,000. Null for what is not a finite
 * number, is negative, or is over EUR_MAX. Text is no number, whatever it says.
 */
export const microOf = (eur: unknown): number | null => {
  if (typeof eur !== "number" || !(eur >= 0 && eur <= EUR_MAX)) return null;
  // JSON has a -0, which is no amount of money.
  return Math.abs(Math.round(eur * MICRO_PER_EUR));
};

/** Of a rule that was parsed: an amount fits, a path is one. */
export const compileCost = (rule: CostRule): CompiledCost => {
  const micro = (eur: number): number => Math.round(eur * MICRO_PER_EUR);
  if ("fixed_eur" in rule) return { fixed: micro(rule.fixed_eur) };
  const { pointer, scale = 1, default_eur: fallback } = rule;
  return {
    path: parseFieldPath(pointer) ?? [],
    scale,
    fallback: fallback === undefined ? null : micro(fallback),
  };
};

/** At most six decimals: an amount that micro-euros hold exactly. */
const AMOUNT = /^(?<sign>-?)(?<units>0|[1-9][0-9]{0,9})(?:\.(?<decimals>[0-9]{1,6}))?$/;
const DECIMALS = 6;

/** No one request costs so much: a receiver that says so counts in another unit, and would use up a budget by a typing error. */
const REPORTED_EUR_MAX = 1_000_000;

/**
 * Euros as a receiver writes them (`12.5`) in micro-euros, digit by digit; null for anything else or over REPORTED_EUR_MAX.
 * `givesBack`: it may be below zero, as much as it may be above.
 */
export const reportedCost = (text: string, givesBack = false): number | null => {
  const { sign, units, decimals = "" } = AMOUNT.exec(text.trim())?.groups ?? {};
  if (units === undefined || (sign === "-" && !givesBack)) return null;
  const micro = Number(units) * MICRO_PER_EUR + Number(decimals.padEnd(DECIMALS, "0"));
  if (micro > REPORTED_EUR_MAX * MICRO_PER_EUR) return null;
  return sign === "-" && micro > 0 ? -micro : micro;
};

export const eurOf = (micro: number): number => micro / MICRO_PER_EUR;

/** Of a cost that may be unknown. */
export const eurOrNull = (micro: number | null): number | null => (micro === null ? null : eurOf(micro));

/** What a request costs, in micro-euros; null when that cannot be determined, which a budget refuses. */
export const costOf = (rule: CompiledCost, payload: unknown): number | null => {
  if ("fixed" in rule) return rule.fixed;
  const value = readField(payload, rule.path);
  if (typeof value !== "number") return rule.fallback;
  const eur = value * rule.scale;
  // The default stands for an amount that is missing: as it, the largest of all would pass every budget and need no person.
  return eur > EUR_MAX ? null : (microOf(eur) ?? rule.fallback);
};
