import type { CostRule } from "../policy/definition.ts";
import { type FieldPath, isBlocked, parseFieldPath, readField } from "./field-path.ts";
import { denied, type GateResult } from "./verdict.ts";

/** All money is counted in integer micro-euros. */
export const MICRO_PER_EUR = 1_000_000;
/** This limit is far above any real request, and exact in a double as micro-euros. */
export const EUR_MAX = 1_000_000_000;

export type CompiledCost =
  | { readonly fixed: number }
  | {
      readonly pointer: string;
      readonly path: FieldPath;
      readonly scale: number;
      readonly fallback: number | null;
      readonly takesText: boolean;
    };

export type CostUnknown = "absent" | "invalid";

export const COST_UNKNOWN = "cost-unknown";

/** Rounds half up: 0.07 is exactly 70,000. Null unless `eur` is a number from 0 to EUR_MAX. */
export const microOf = (eur: unknown): number | null => {
  if (typeof eur !== "number" || !(eur >= 0 && eur <= EUR_MAX)) return null;
  return Math.abs(Math.round(eur * MICRO_PER_EUR));
};

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

/** A decimal text has at most six decimals, which micro-euros hold exactly. */
const AMOUNT = /^(?<sign>-?)(?<units>0|[1-9][0-9]{0,9})(?:\.(?<decimals>[0-9]{1,6}))?$/;
const DECIMALS = 6;

/** A receiver that reports a higher cost probably counts in another unit, and must not exhaust a budget. */
const REPORTED_EUR_MAX = 1_000_000;

/** Micro-euros of a decimal text (`12.5`); null if invalid or too much. `givesBack` allows negative amounts. */
export const reportedCost = (text: string, givesBack = false): number | null => {
  const { sign, units, decimals = "" } = AMOUNT.exec(text.trim())?.groups ?? {};
  if (units === undefined || (sign === "-" && !givesBack)) return null;
  const micro = Number(units) * MICRO_PER_EUR + Number(decimals.padEnd(DECIMALS, "0"));
  if (micro > REPORTED_EUR_MAX * MICRO_PER_EUR) return null;
  return sign === "-" && micro > 0 ? -micro : micro;
};

export const eurOf = (micro: number): number => micro / MICRO_PER_EUR;

export const eurOrNull = (micro: number | null): number | null => (micro === null ? null : eurOf(micro));

/** A number in text has a form that all readers understand alike: no sign, exponent, space or separator. */
const NUMERIC_TEXT = /^(?:0|[1-9][0-9]{0,39})(?:\.[0-9]{1,40})?$/;

const numberIn = (value: unknown, takesText: boolean): number | null => {
  if (typeof value === "number") return value;
  return takesText && typeof value === "string" && NUMERIC_TEXT.test(value) ? Number(value) : null;
};

/** Micro-euros. The default replaces only an absent or null amount, so nobody avoids budgets by sending text. */
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

/** The message names only the kind of the value, because the policy may hide the value. */
const notAnAmount = ({ pointer, takesText }: Extract<CompiledCost, { pointer: string }>, value: unknown): string => {
  if (numberIn(value, takesText) !== null) {
    return `the number at ${pointer} is negative, or makes more than ${EUR_MAX} EUR`;
  }
  const kind = Array.isArray(value) ? "a list" : KINDS[typeof value as keyof typeof KINDS]; // JSON has no other kinds.
  const hint = typeof value === "string" && !takesText ? ", and the cost rule does not have numeric_text: true" : "";
  return `the payload has ${kind} at ${pointer}, which is not an amount${hint}`;
};

export const whyCostUnknown = (rule: CompiledCost | null, payload: unknown, owner: "policy" | "action"): string => {
  if (rule === null || "fixed" in rule) return `the ${owner} has no cost rule`;
  const value = readField(payload, rule.path);
  if (payload === undefined) return `the body is not JSON, and the ${owner}'s cost rule reads ${rule.pointer}`;
  if (value !== undefined && value !== null) return notAnAmount(rule, value);
  if (isBlocked(payload, rule.path)) return `the payload has no object that could have the amount at ${rule.pointer}`;
  return `the payload has no amount at ${rule.pointer}, and the ${owner}'s cost rule has no default_eur`;
};

/** Refuses a wrong amount even without a budget, because conditions read the cost too. */
export const costGate = (rule: CompiledCost | null, payload: unknown, owner: "policy" | "action"): GateResult[] =>
  rule === null || costOf(rule, payload) !== "invalid"
    ? []
    : [denied("cost", COST_UNKNOWN, whyCostUnknown(rule, payload, owner))];
