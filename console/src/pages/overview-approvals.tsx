import { listTotal } from "../../design/format.ts";
import { Mark } from "../../design/mark.tsx";
import { Section } from "../../design/text.tsx";
import { call } from "../api/api.ts";
import { hrefOf } from "../shell/addresses.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Sum } from "./figures.tsx";

type Outcome = {
  readonly name: string;
  /** The statuses that count as it; empty: all. */
  readonly statuses: readonly string[];
  readonly below: string;
  readonly mark?: readonly [name: string, role: "ok" | "refuse" | "wait"];
};

/** They add up to the first one. */
const OUTCOMES: readonly Outcome[] = [
  { name: "Asked", statuses: [], below: "for a decision; a bundle is one" },
  { name: "Approved", statuses: ["approved", "consumed"], below: "and sent once", mark: ["delivered", "ok"] },
  { name: "Rejected", statuses: ["rejected"], below: "nothing was sent", mark: ["rejected", "refuse"] },
  { name: "Expired", statuses: ["expired"], below: "nobody decided in time" },
  { name: "Cancelled", statuses: ["cancelled", "void"], below: "the request went away" },
  { name: "Held", statuses: ["pending"], below: "approvals still to decide", mark: ["held", "wait"] },
];
const COUNTED = OUTCOMES.flatMap(({ statuses }) => statuses).join(",");

/** All of the range are counted each time, so they are read less often than the rest. */
const REFRESH_MS = 10_000;

type RangeProps = { readonly from: string; readonly to: string };

/** What became of the requests for a decision that were made in the range; each figure has its list. */
export const ApprovalsInRange = ({ from, to }: RangeProps) => {
  const on = { topic: "approvals", id: null };
  const { body } = useAnswer({ key: hrefOf("", { from, to }), on, everyMs: REFRESH_MS }, () =>
    call("GET /v1/approvals", { query: { from, to, limit: 1, total: "true", counts: COUNTED } }),
  );
  const countOf = (statuses: readonly string[]): number | undefined =>
    statuses.length === 0 ? body?.total : statuses.reduce((sum, it) => sum + (body?.counts?.[it] ?? 0), 0);
  return (
    <Section
      title="Approvals in this range"
      beside={
        <span class="meta">
          <a href="/approvals">Open the inbox</a>
        </span>
      }
    >
      <div class="sums">
        {OUTCOMES.map(({ name, statuses, below, mark }) => {
          const total = body === null ? undefined : countOf(statuses);
          return (
            <Sum
              key={name}
              name={name}
              mark={mark === undefined ? null : <Mark name={mark[0]} role={mark[1]} />}
              value={total === undefined ? "–" : listTotal(total)}
              below={below}
              href={hrefOf("/approvals", {
                ...{ for: "any", from, to },
                ...(statuses.length === 0 ? {} : { status: statuses.join(",") }),
              })}
            />
          );
        })}
      </div>
    </Section>
  );
};
