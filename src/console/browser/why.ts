import type { EventDetail, EventSummary, Verdict } from "./answers.ts";
import { words } from "./format.ts";

export const stoppedBy = ({ gates }: Verdict, isHeld: boolean): string => {
  const gate = gates.find(({ outcome }) => outcome !== "allow" && (isHeld || outcome !== "hold"));
  return gate === undefined ? "" : `${words(gate.gate)}: ${gate.detail}`;
};

const said = (texts: readonly string[]): string => texts.filter((it) => it !== "").join("; ");

const ofFailure = ({ failure }: EventSummary): string => (failure === null ? "" : `${failure.kind}: ${failure.detail}`);

export const whyOf = (event: EventSummary): string => {
  const { verdict, duplicates, delivery_id_reused: reused } = event;
  return said([
    event.failure === null ? stoppedBy(verdict, event.status === "held") : ofFailure(event),
    duplicates > 0 ? `${duplicates} duplicate${duplicates === 1 ? "" : "s"}` : "",
    reused > 0 ? `${reused} refused with another body` : "",
  ]);
};

const ENDED: ReadonlySet<string> = new Set(["rejected", "expired", "cancelled"]);

export const whyInDetail = (event: EventDetail): string => {
  if (event.failure !== null) return ofFailure(event);
  const reason = ENDED.has(event.status) ? event.timeline.findLast((it) => it.reason !== undefined)?.reason : undefined;
  return reason ?? stoppedBy(event.verdict, event.status === "held");
};
