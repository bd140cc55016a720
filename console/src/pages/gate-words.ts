import { duration, euro } from "../../design/format.ts";

/** What gates say, in the words of the console: sums as euros, and each gate by a name that people know. Pure. */

export type Gate = {
  readonly gate: string;
  readonly outcome: string;
  readonly code: string;
  readonly detail: string;
};

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const NAMES: Readonly<Record<string, string>> = { require_fields: "Required fields" };

export const gateName = (gate: string): string => NAMES[gate] ?? sentence(gate.replaceAll(/[_-]/g, " "));

/** The API's texts of the gates that count. */
const BUDGET = /^([\d.]+) of ([\d.]+) EUR used today, this one costs ([\d.]+) EUR$/;
const RATE = /^(\d+) of (\d+) in the last minute$/;
const IDENTICAL = /^(\d+) of (\d+) identical in (\d+) s$/;
const RULES = /^refused by (.+)$/s;
const MISSING = /^missing: (.+)$/s;

type Sums = { readonly used: string; readonly limit: string; readonly cost: string };

const budgetIn = (detail: string): Sums | null => {
  const [, used, limit, cost] = BUDGET.exec(detail) ?? [];
  if (used === undefined || limit === undefined || cost === undefined) return null;
  return { used: euro(Number(used)), limit: euro(Number(limit)), cost: euro(Number(cost)) };
};

/** What a gate found, for a list or beside its name. */
export const gateDetail = ({ outcome, detail }: Gate): string => {
  const sums = budgetIn(detail);
  if (sums === null) return detail;
  const { used, limit, cost } = sums;
  return outcome === "deny" ? `${cost} would pass ${limit} (${used} is used)` : `${used} + ${cost} of ${limit}`;
};

const ENDINGS: Readonly<Record<string, string>> = { one: "st", two: "nd", few: "rd", other: "th" };
const ordinal = (value: number): string =>
  `${value}${ENDINGS[new Intl.PluralRules("en", { type: "ordinal" }).select(value)] ?? "th"}`;

type Asked = {
  readonly from: string;
  readonly what: string | null;
  readonly run: string | null;
  readonly zone: string;
};
type Refusal = { readonly title: string; readonly text: string };

/** "Berlin" of Europe/Berlin. */
const cityOf = (zone: string): string => (zone.split("/").at(-1) ?? zone).replaceAll("_", " ");

const counted = ({ gate, detail }: Gate, { run, zone }: Asked): string | null => {
  const sums = gate === "budget" ? budgetIn(detail) : null;
  if (sums !== null) {
    const { used, limit, cost } = sums;
    const resets = `It resets at midnight in ${cityOf(zone)}, or an admin raises the budget.`;
    return `This costs ${cost} and would pass today's ${limit} (${used} is spent or reserved). ${resets}`;
  }
  const [, taken, most] = (gate === "rate" && RATE.exec(detail)) || [];
  if (taken !== undefined)
    return `${most} requests a minute are allowed and this is the ${ordinal(Number(taken) + 1)}.`;
  const [, times, , windowS] = (gate === "loop" && IDENTICAL.exec(detail)) || [];
  if (times === undefined) return null;
  const look = run === null ? "" : ` Look at the run ${run} before you raise the limit.`;
  return `The same request came ${times} times in ${duration(Number(windowS) * 1_000)}.${look}`;
};

/** What was refused, why, and what to do, in sentences. */
export const refusalOf = (gate: Gate, asked: Asked): Refusal => {
  const { gate: name, code, detail } = gate;
  const title = `${gateName(name)} refused.`;
  const text = counted(gate, asked);
  if (text !== null) return { title, text };
  if (code === "out-of-scope" && asked.what !== null)
    return { title: "Out of scope.", text: `${asked.from} may not ask for ${asked.what}.` };
  const [, rules] = (name === "content" && RULES.exec(detail)) || [];
  if (rules !== undefined) return { title, text: `The ${/", "/.test(rules) ? "rules" : "rule"} ${rules} matched.` };
  const [, fields] = (name === "require_fields" && MISSING.exec(detail)) || [];
  if (fields !== undefined)
    return { title: "Field missing.", text: `The policy needs ${fields}; the request has no such field.` };
  return { title, text: `${sentence(detail)}.` };
};

const isGate = (it: unknown): it is Gate =>
  typeof it === "object" && it !== null && "gate" in it && "outcome" in it && "code" in it && "detail" in it;

/** The gate that refused a bundle; the API does not describe the shape of a bundle's verdict. */
export const refusingGate = (verdict: unknown): Gate | null => {
  const gates = typeof verdict === "object" && verdict !== null && "gates" in verdict ? verdict.gates : [];
  return (Array.isArray(gates) ? gates : []).find((it) => isGate(it) && it.outcome === "deny") ?? null;
};

/** A summary of the API ends with its cost, such as "…, 1240.00 EUR". What stands before it was written by others. */
export const summaryText = (summary: string): string =>
  summary.replace(/, (\d+\.\d{2,6}) EUR(\.?)$/, (_, cost: string, end: string) => `, ${euro(Number(cost))}${end}`);
