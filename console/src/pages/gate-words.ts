import { coversAction } from "../../../domain/evidence/action-pattern.ts";
import { countdown, counted, duration, euro } from "../../design/format.ts";
import { hrefOf } from "../shell/addresses.ts";
import { joined, type Message, message, type Part } from "./message.ts";

/** What gates say, in the words of the console: sums as euros, and each gate by a name that people know. Pure. */

export type PolicyRef = { readonly id: string; readonly version: number };

export type Gate = {
  readonly gate: string;
  readonly outcome: string;
  readonly code: string;
  readonly detail: string;
  /** Absent if one policy was asked, or if the gate needs none. */
  readonly policy?: PolicyRef | undefined;
};

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const NAMES: Readonly<Record<string, string>> = { require_fields: "Required fields" };

export const gateName = (gate: string): string => NAMES[gate] ?? sentence(gate.replaceAll(/[_-]/g, " "));

/** The API's texts of the gates that count. */
const BUDGET = /^([\d.]+) of ([\d.]+) EUR used today, this one costs ([\d.]+) EUR$/;
const RATE = /^(\d+) of (\d+) in the last minute(?:; the next is possible in (\d+) s)?$/;
const IDENTICAL = /^(\d+) of (\d+) identical in (\d+) s$/;
const RULES = /^refused by (.+)$/s;
const WITH_BUNDLE = /^(Decided on as|Takes back) step (\d+) of bun_\w+$/;
const MISSING = /^missing: (.+)$/s;

type Sums = { readonly used: string; readonly limit: string; readonly cost: string };

const budgetIn = (detail: string): Sums | null => {
  const [, used, limit, cost] = BUDGET.exec(detail) ?? [];
  if (used === undefined || limit === undefined || cost === undefined) return null;
  return { used: euro(Number(used)), limit: euro(Number(limit)), cost: euro(Number(cost)) };
};

/** What a gate found, for a list or beside its name. */
export const gateDetail = ({ outcome, detail }: Gate): string => {
  const [, how, step] = WITH_BUNDLE.exec(detail) ?? [];
  if (step !== undefined)
    return how === "Takes back"
      ? `Takes back step ${Number(step) + 1} of its bundle`
      : `Decided with its bundle, as step ${Number(step) + 1}`;
  const sums = budgetIn(detail);
  if (sums === null) return detail;
  const { used, limit, cost } = sums;
  return outcome === "deny" ? `${cost} would pass ${limit} (${used} is used)` : `${used} + ${cost} of ${limit}`;
};

const ENDINGS = ["th", "st", "nd", "rd"];
const ordinal = (value: number): string => {
  const isTeen = Math.floor(value / 10) % 10 === 1;
  return `${value}${(isTeen ? null : ENDINGS[value % 10]) ?? "th"}`;
};

/** A rule of a policy's version, with its expression. */
export type Rule = { readonly name: string; readonly when: string };

export type Asked = {
  readonly from: string;
  readonly what: string | null;
  readonly run: string | null;
  readonly zone: string;
  /** When it was asked, ISO 8601, and the present. */
  readonly at: string;
  readonly now: number;
  /** The rules of the version that decided; empty as long as they are not known. */
  readonly rules: readonly Rule[];
  /** What the agent may ask for at present; null as long as it is not known. */
  readonly scope: readonly string[] | null;
};

/** "Berlin" of Europe/Berlin. */
const cityOf = (zone: string): string => (zone.split("/").at(-1) ?? zone).replaceAll("_", " ");

/** When a place was free again, counted from the refusal. */
const nextText = (waitS: number, { at, now }: Asked): string => {
  const left = Date.parse(at) + waitS * 1_000 - now;
  return left > 0
    ? ` The next is possible in ${countdown(left)}.`
    : ` The next was possible ${countdown(waitS * 1_000)} later.`;
};

/** Whole minutes are written out, as in "10 minutes"; an hour and more as any other duration. */
const windowText = (seconds: number): string =>
  seconds % 60 === 0 && seconds < 3_600 ? counted(seconds / 60, "minute") : duration(seconds * 1_000);

const timesText = (times: number): string => (times === 1 ? "once" : `${times} times`);

const countingGate = ({ gate, detail }: Gate, asked: Asked): readonly Part[] | null => {
  const sums = gate === "budget" ? budgetIn(detail) : null;
  if (sums !== null) {
    const { used, limit, cost } = sums;
    // The gate counts what is reserved with what is spent; "is spent" alone would be untrue.
    const resets = `It resets at midnight in ${cityOf(asked.zone)}, or an admin raises the budget.`;
    return [`This costs ${cost} and would pass today's ${limit} (${used} is spent or reserved). ${resets}`];
  }
  const [, taken, most, waitS] = (gate === "rate" && RATE.exec(detail)) || [];
  if (taken !== undefined) {
    const next = waitS === undefined ? "" : nextText(Number(waitS), asked);
    const allowed = `${counted(Number(most), "request")} a minute ${Number(most) === 1 ? "is" : "are"} allowed`;
    return [`${allowed} and this is the ${ordinal(Number(taken) + 1)}.${next}`];
  }
  const [, times, , windowS] = (gate === "loop" && IDENTICAL.exec(detail)) || [];
  if (times === undefined) return null;
  const came = `The same request came ${timesText(Number(times))} in ${windowText(Number(windowS))}.`;
  const { run } = asked;
  if (run === null) return [came];
  return [`${came} Look at the run `, { link: run, href: hrefOf("/events", { run }) }, " before you raise the limit."];
};

const codes = (texts: readonly string[]): readonly Part[] =>
  joined(
    texts.map((code) => ({ code })),
    ", ",
  );

/** The scope may have been changed since. */
const scopeWords = ({ from, what, scope }: Asked & { readonly what: string }): readonly Part[] =>
  scope === null || scope.some((it) => coversAction(it, what))
    ? [`${from} was not allowed to ask for `, { code: what }, "."]
    : [`${from} may ask for `, ...codes(scope), "; it asked for ", { code: what }, "."];

/** `named` are the names of the rules that matched, each in quotes. */
const contentWords = (named: string, rules: readonly Rule[]): readonly Part[] => {
  const known = rules.filter(({ name }) => named.includes(`"${name}"`)).map(({ when }) => when);
  const subject = `The ${/", "/.test(named) ? "rules" : "rule"} ${named} matched`;
  return known.length === 0 ? [`${subject}.`] : [`${subject}: `, ...codes(known), "."];
};

/** What was refused, why, and what to do, in sentences. */
export const refusalOf = (gate: Gate, asked: Asked): Message => {
  const { gate: name, code, detail } = gate;
  const { what } = asked;
  const title = `${gateName(name)} refused.`;
  const text = countingGate(gate, asked);
  if (text !== null) return message(title, ...text);
  if (code === "out-of-scope" && what !== null) return message("Out of scope.", ...scopeWords({ ...asked, what }));
  const [, named] = (name === "content" && RULES.exec(detail)) || [];
  if (named !== undefined) return message(title, ...contentWords(named, asked.rules));
  const [, fields] = (name === "require_fields" && MISSING.exec(detail)) || [];
  if (fields !== undefined)
    return message(
      "Field missing.",
      ...["The policy needs ", ...codes(fields.split(", ")), "; the request has no such field."],
    );
  return message(title, `${sentence(detail)}.`);
};

/** A summary of the API ends with its cost, such as "…, 1240.00 EUR". What stands before it was written by others. */
export const summaryText = (summary: string): string =>
  summary.replace(/, (\d+\.\d{2,6}) EUR(\.?)$/, (_, cost: string, end: string) => `, ${euro(Number(cost))}${end}`);
