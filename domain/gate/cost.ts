import type { CostRule } from "../policy/definition.ts";
import { type FieldPath, isBlocked, parseFieldPath, readField } from "./field-path.ts";
import { denied, type GateResult } from "./verdict.ts";

/** All money is counted in integer micro-euros. */
export const MICRO_PER_EUR = 1_000_000;
/** Far above any real request, and still exact in a double as micro-euros. */
export const EUR_MAX = 1_000_000_000;

/** Amounts are in micro-euros. */
export type CompiledCost =
  | { readonly fixed: number }
  | {
      /** The path as the author wrote it. */
      readonly pointer: string;
      readonly path: FieldPath;
      readonly scale: number;
      /** Used if the amount is absent or null; null without a default. */
      readonly fallback: number | null;
      /** Numbers written as text count as amounts. */
      readonly takesText: boolean;
    };

/** "absent": no amount and no default. "invalid": the value is not an amount. */
export type CostUnknown = "absent" | "invalid";

export const COST_UNKNOWN = "cost-unknown";

/** Euros as integer micro-euros, rounded half up: 0.07 is exactly 70,000. Null unless a number from 0 to EUR_MAX. */
export const microOf = (eur: unknown): number | null => {
  if (typeof eur !== "number" || !(eur >= 0 && eur <= EUR_MAX)) return null;
  // JSON allows -0.
  return Math.abs(Math.round(eur * MICRO_PER_EUR));
};

/** `rule` was parsed, so its amounts and its path are valid. */
export const compileCost = (rule: CostRule): CompiledCost => {
  const micro = (eur: number): number => Math.round(eur * MICRO_PER_EUR);
  if ("fixed_eur" in rule) return { fixed: micro(rule.fixed_eur) };
  const { pointer, scale = 1, default_eur: fallback, numeric_text: takesText = false } = rule;
  return {
    pointer,
    path: parseFieldPath(pointer) ?? [],
    scale,
    fallback: fallback === undefined ? null : micro(fallback),
    takesText,
  };
};

/** At most six decimals, which micro-euros hold exactly. */
const AMOUNT = /^(?<sign>-?)(?<units>0|[1-9][0-9]{0,9})(?:\.(?<decimals>[0-9]{1,6}))?$/;
const DECIMALS = 6;

/** A receiver that reports more probably counts in another unit, and must not exhaust a budget. */
const REPORTED_EUR_MAX = 1_000_000;

/**
 * Micro-euros of a decimal text (`12.5`); null if invalid or over REPORTED_EUR_MAX. `givesBack` allows negative
 * amounts.
 */
export const reportedCost = (text: string, givesBack = false): number | null => {
  const { sign, units, decimals = "" } = AMOUNT.exec(text.trim())?.groups ?? {};
  if (units === undefined || (sign === "-" && !givesBack)) return null;
  const micro = Number(units) * MICRO_PER_EUR + Number(decimals.padEnd(DECIMALS, "0"));
  if (micro > REPORTED_EUR_MAX * MICRO_PER_EUR) return null;
  return sign === "-" && micro > 0 ? -micro : micro;
};

export const eurOf = (micro: number): number => micro / MICRO_PER_EUR;

export const eurOrNull = (micro: number | null): number | null => (micro === null ? null : eurOf(micro));

/**
 * No sign, exponent, space, leading zero or separator of thousands, which two readers may understand differently. 40
 * digits hold the smallest unit of any currency.
 */
const NUMERIC_TEXT = /^(?:0|[1-9][0-9]{0,39})(?:\.[0-9]{1,40})?$/;

const numberIn = (value: unknown, takesText: boolean): number | null => {
  if (typeof value === "number") return value;
  return takesText && typeof value === "string" && NUMERIC_TEXT.test(value) ? Number(value) : null;
};

/**
 * The cost in micro-euros. The default stands only for an absent or null amount: otherwise a sender could avoid budgets
 * and approvals by writing the amount as text. `payload` is undefined if the body is not JSON.
 */
export const costOf = (rule: CompiledCost, payload: unknown): number | CostUnknown => {
  if ("fixed" in rule) return rule.fixed;
  const value = readField(payload, rule.path);
  if (value === undefined || value === null) {
    const isUnreadable = payload === undefined || isBlocked(payload, rule.path);
    return isUnreadable ? "invalid" : (rule.fallback ?? "absent");
  }
  const amount = numberIn(value, rule.takesText);
  return amount === null ? "invalid" : (microOf(amount * rule.scale) ?? "invalid");
};

const KINDS = { string: "text", boolean: "true or false", object: "an object" } as const;

/** The message names the kind of the value only, because the policy may hide the value. */
const notAnAmount = ({ pointer, takesText }: Extract<CompiledCost, { pointer: string }>, value: unknown): string => {
  if (numberIn(value, takesText) !== null) {
    return `the number at ${pointer} is negative, or makes more than ${EUR_MAX} EUR`;
  }
  const kind = Array.isArray(value) ? "a list" : KINDS[typeof value as keyof typeof KINDS]; // JSON has no other kinds.
  const hint = typeof value === "string" && !takesText ? ", and the cost rule does not have numeric_text: true" : "";
  return `the payload has ${kind} at ${pointer}, which is not an amount${hint}`;
};

/** A sentence that says why the cost is unknown. `owner`: whose rule it is. */
export const whyCostUnknown = (rule: CompiledCost | null, payload: unknown, owner: "policy" | "action"): string => {
  if (rule === null || "fixed" in rule) return `the ${owner} has no cost rule`;
  const value = readField(payload, rule.path);
  if (payload === undefined) return `the body is not JSON, and the ${owner}'s cost rule reads ${rule.pointer}`;
  if (value !== undefined && value !== null) return notAnAmount(rule, value);
  if (isBlocked(payload, rule.path)) return `the payload has no object that could have the amount at ${rule.pointer}`;
  return `the payload has no amount at ${rule.pointer}, and the ${owner}'s cost rule has no default_eur`;
};

/**
 * Refuses a wrong amount even without a budget, because conditions read the cost too. Empty if the amount is right or
 * absent: an absent one is the budget's matter.
 */
export const costGate = (rule: CompiledCost | null, payload: unknown, owner: "policy" | "action"): GateResult[] =>
  rule === null || costOf(rule, payload) !== "invalid"
    ? []
    : [denied("cost", COST_UNKNOWN, whyCostUnknown(rule, payload, owner))];
