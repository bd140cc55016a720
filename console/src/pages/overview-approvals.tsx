import { listTotal } from "../../design/format.ts";
import { Mark } from "../../design/mark.tsx";
import { Section } from "../../design/text.tsx";
import { call } from "../api/api.ts";
import { hrefOf } from "../shell/addresses.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Sum } from "./figures.tsx";

type Outcome = {
  readonly name: string;
  /** The statuses that count as it; left out: all. */
  readonly status?: string;
  readonly below: string;
  readonly mark?: readonly [name: string, role: "ok" | "refuse" | "wait"];
};

/** They add up to the first one. */
const OUTCOMES: readonly Outcome[] = [
  { name: "Asked", below: "for a decision; a bundle is one" },
  { name: "Approved", status: "approved,consumed", below: "and sent once", mark: ["delivered", "ok"] },
  { name: "Rejected", status: "rejected", below: "nothing was sent", mark: ["rejected", "refuse"] },
  { name: "Expired", status: "expired", below: "nobody decided in time" },
  { name: "Cancelled", status: "cancelled,void", below: "the request went away" },
  { name: "Held", status: "pending", below: "approvals still to decide", mark: ["held", "wait"] },
];

/** Every count is a query of its own, so they are read less often than the rest. */
const REFRESH_MS = 10_000;

type RangeProps = { readonly from: string; readonly to: string };

const OneOutcome = ({ outcome, from, to }: RangeProps & { readonly outcome: Outcome }) => {
  const { name, status, below, mark } = outcome;
  const asked = { from, to, ...(status === undefined ? {} : { status }) };
  const on = { topic: "approvals", id: null };
  const shown = useAnswer({ key: hrefOf("", asked), on, everyMs: REFRESH_MS }, () =>
    call("GET /v1/approvals", { query: { ...asked, limit: 1, total: "true" } }),
  );
  const total = shown.body?.total;
  return (
    <Sum
      name={name}
      mark={mark === undefined ? null : <Mark name={mark[0]} role={mark[1]} />}
      value={total === undefined ? "–" : listTotal(total)}
      below={below}
      href={hrefOf("/approvals", { for: "any", ...asked })}
    />
  );
};

/** What became of the requests for a decision that were made in the range; each figure has its list. */
export const ApprovalsInRange = (range: RangeProps) => (
  <Section
    title="Approvals in this range"
    beside={
      <span class="meta">
        <a href="/approvals">Open the inbox</a>
      </span>
    }
  >
    <div class="sums">
      {OUTCOMES.map((outcome) => (
        <OneOutcome key={outcome.name} outcome={outcome} {...range} />
      ))}
    </div>
  </Section>
);
