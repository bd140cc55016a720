import type { BundleRequest } from "../bundle/events.ts";
import type { Request } from "../delivery/events.ts";
import { MICRO_PER_EUR } from "../gate/cost.ts";
import { visibleLine } from "../visible-text.ts";

/** Names come from outside and have up to 200 characters; a summary shows at most this many of each. */
const PART_MAX = 120;
const CENTS = 2;
const DECIMALS_MAX = 6;

/** Invisible characters are shown as escapes, so that nobody takes one name for another. */
const onOneLine = (text: string): string => {
  const characters = [...text.trim()];
  return visibleLine(characters.slice(0, PART_MAX).join("")) + (characters.length > PART_MAX ? "…" : "");
};

export const euros = (micro: number): string => {
  const whole = (micro / MICRO_PER_EUR).toFixed(DECIMALS_MAX);
  const [units = "", decimals = ""] = whole.split(".");
  return `${units}.${decimals.replace(/0+$/, "").padEnd(CENTS, "0")} EUR`;
};

/** For example: `Agent "refunds" asks for refund.create, 120.00 EUR`. */
export const summaryOf = ({ origin, type, cost }: Pick<Request, "origin" | "type" | "cost">): string => {
  const name = onOneLine(origin.name);
  const what = onOneLine(type);
  const asked =
    origin.kind === "agent"
      ? `Agent "${name}" asks for ${what}`
      : `Source "${name}" (${onOneLine(origin.type)}) sent ${what === "" ? "an event" : what}`;
  return cost === null ? asked : `${asked}, ${euros(cost)}`;
};

type AskedAsOne = Pick<BundleRequest, "origin" | "name" | "steps" | "cost">;

/** "2 × stock.move, mail.send and 3 more": whole names in the order of the steps, as many as there is room for. */
const actionsOf = (steps: AskedAsOne["steps"]): string => {
  const counts = new Map<string, number>();
  for (const { action } of steps) counts.set(action.name, (counts.get(action.name) ?? 0) + 1);
  const shown: string[] = [];
  let left = steps.length;
  let room = PART_MAX;
  for (const [name, times] of counts) {
    const text = times === 1 ? onOneLine(name) : `${times} × ${onOneLine(name)}`;
    room -= text.length;
    if (shown.length > 0 && room < 0) break;
    shown.push(text);
    left -= times;
  }
  return `${shown.join(", ")}${left === 0 ? "" : ` and ${left} more`}`;
};

/** Of more steps than this, only the number is told. */
const FINAL_NAMED_MAX = 3;

const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join() : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;

/** Which steps nothing takes back; steps are counted from one. Empty if there are none. */
const finalSteps = (steps: BundleRequest["steps"]): string => {
  const final = steps.filter(({ reversibility }) => reversibility === "irreversible");
  if (final.length === 0) return "";
  if (final.length > FINAL_NAMED_MAX) return `; ${final.length} of them cannot be undone`;
  const named = final.map(({ index, action }) => `${index + 1} (${onOneLine(action.name)})`);
  return `; step${named.length === 1 ? "" : "s"} ${listed(named)} cannot be undone`;
};

export const bundleSummaryOf = ({ origin, name, steps, cost }: AskedAsOne): string => {
  const title = name === null ? "" : ` ("${onOneLine(name)}")`;
  const many = steps.length === 1 ? "1 action" : `${steps.length} actions`;
  const asked = `Agent "${onOneLine(origin.name)}" asks for ${many} as one${title}: ${actionsOf(steps)}${finalSteps(steps)}`;
  return cost === null ? asked : `${asked}, ${euros(cost)}`;
};

/** The sentence that is decided: `Agent helper asks for "month-end", 50 steps as one; step 50 (mail.send) cannot be undone`. */
export const bundleTitleOf = ({ origin, name, steps }: Pick<BundleRequest, "origin" | "name" | "steps">): string => {
  const many = steps.length === 1 ? "1 step" : `${steps.length} steps as one`;
  const what = name === null ? actionsOf(steps) : `"${onOneLine(name)}"`;
  return `Agent ${onOneLine(origin.name)} asks for ${what}, ${many}${finalSteps(steps)}`;
};
