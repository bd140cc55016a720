import type { CostRule } from "../policy/definition.ts";
import { type FieldPath, isBlocked, parseFieldPath, readField } from "./field-path.ts";
import { denied, type GateResult } from "./verdict.ts";

/** One euro in the integers that all money is counted in. */
export const MICRO_PER_EUR = 1_000_000;
/** Far above any real request, and so many micro-euros are still exact in a double. */
export const EUR_MAX = 1_000_000_000;

/** The cost rule of a policy or an action, its amounts in micro-euros. */
export type CompiledCost =
  | { readonly fixed: number }
  | {
      /** The path as its author wrote it. */
      readonly pointer: string;
      readonly path: FieldPath;
      readonly scale: number;
      /** Stands for an amount that is absent or null; null where the rule has no default. */
      readonly fallback: number | null;
      /** Whether a number written as text is an amount. */
      readonly takesText: boolean;
    };

/** "absent": there is no amount and the rule has no default. "invalid": what is there is not an amount. */
export type CostUnknown = "absent" | "invalid";

/** The code of a gate that refuses because it cannot tell what a request costs. */
export const COST_UNKNOWN = "cost-unknown";

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
  const { pointer, scale = 1, default_eur: fallback, numeric_text: takesText = false } = rule;
  return {
    pointer,
    path: parseFieldPath(pointer) ?? [],
    scale,
    fallback: fallback === undefined ? null : micro(fallback),
    takesText,
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

/**
 * A number as a text has it: digits, and decimals after a point. No sign, exponent, space, leading zero or separator of
 * thousands, because two readers may understand those differently. 40 digits hold the smallest unit of any currency.
 */
const NUMERIC_TEXT = /^(?:0|[1-9][0-9]{0,39})(?:\.[0-9]{1,40})?$/;

const numberIn = (value: unknown, takesText: boolean): number | null => {
  if (typeof value === "number") return value;
  return takesText && typeof value === "string" && NUMERIC_TEXT.test(value) ? Number(value) : null;
};

/**
 * What a request costs, in micro-euros. The default stands only for an amount that is absent or null: if it stood for a
 * wrong one as well, a sender could pass every budget and every threshold for approvals by writing the amount as text.
 * `payload`: undefined for a body that is no JSON, in which a receiver may yet find an amount.
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

/** Says what kind of value is there. The value itself may be one that the policy hides. */
const notAnAmount = ({ pointer, takesText }: Extract<CompiledCost, { pointer: string }>, value: unknown): string => {
  if (numberIn(value, takesText) !== null) {
    return `the number at ${pointer} is negative, or makes more than ${EUR_MAX} EUR`;
  }
  const kind = Array.isArray(value) ? "a list" : KINDS[typeof value as keyof typeof KINDS]; // JSON has no other kinds.
  const hint = typeof value === "string" && !takesText ? ", and the cost rule does not have numeric_text: true" : "";
  return `the payload has ${kind} at ${pointer}, which is not an amount${hint}`;
};

/** Why a payload's cost is not known, for a person. `owner`: whose rule it is. */
export const whyCostUnknown = (rule: CompiledCost | null, payload: unknown, owner: "policy" | "action"): string => {
  if (rule === null || "fixed" in rule) return `the ${owner} has no cost rule`;
  const value = readField(payload, rule.path);
  if (payload === undefined) return `the body is not JSON, and the ${owner}'s cost rule reads ${rule.pointer}`;
  if (value !== undefined && value !== null) return notAnAmount(rule, value);
  if (isBlocked(payload, rule.path)) return `the payload has no object that could have the amount at ${rule.pointer}`;
  return `the payload has no amount at ${rule.pointer}, and the ${owner}'s cost rule has no default_eur`;
};

/**
 * Refuses a payload with a wrong amount, whether or not there is a budget, because conditions read the cost as well. No
 * result where the amount is right or absent: the budget says what it makes of an absent one.
 */
export const costGate = (rule: CompiledCost | null, payload: unknown, owner: "policy" | "action"): GateResult[] =>
  rule === null || costOf(rule, payload) !== "invalid"
    ? []
    : [denied("cost", COST_UNKNOWN, whyCostUnknown(rule, payload, owner))];
