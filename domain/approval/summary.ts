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

export const bundleSummaryOf = ({ origin, name, steps, cost }: AskedAsOne): string => {
  const title = name === null ? "" : ` ("${onOneLine(name)}")`;
  const actions = onOneLine(steps.map(({ action }) => action.name).join(", "));
  const many = steps.length === 1 ? "1 action" : `${steps.length} actions`;
  const asked = `Agent "${onOneLine(origin.name)}" asks for ${many} as one${title}: ${actions}`;
  return cost === null ? asked : `${asked}, ${euros(cost)}`;
};
