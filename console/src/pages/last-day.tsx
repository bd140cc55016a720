import { count } from "../../design/format.ts";
import { Mark } from "../../design/mark.tsx";
import { LoadError, Loading } from "../../design/placeholders.tsx";
import { Section } from "../../design/text.tsx";
import { call } from "../api/api.ts";
import { useAnswer } from "../shell/use-answer.ts";
import type { Lane } from "./chart-lanes.ts";
import { listHref, type Series, type Stats, Sum, seriesOf } from "./figures.tsx";
import { bucketLabel, LanesChart } from "./lanes-chart.tsx";
import { lastDayQuery } from "./last-day-query.ts";

type Shown = {
  readonly metric: Series["metric"];
  readonly lane: Omit<Lane, "values">;
  readonly mark: string;
  readonly role: "ok" | "refuse" | "wait" | "fail" | "move";
  readonly below: string;
};

const RECEIVED = "of those received";

const LANES: readonly Shown[] = [
  {
    metric: "delivered",
    lane: { name: "Delivered", colour: "area", heightPx: 72 },
    mark: "delivered",
    role: "ok",
    below: RECEIVED,
  },
  {
    metric: "blocked",
    lane: { name: "Refused", colour: "c-refuse", heightPx: 24 },
    mark: "refused",
    role: "refuse",
    below: RECEIVED,
  },
  {
    metric: "held",
    lane: { name: "Held", colour: "c-wait", heightPx: 24 },
    mark: "held",
    role: "wait",
    below: "until a person decides",
  },
  {
    metric: "failed",
    lane: { name: "Failed", colour: "c-fail", heightPx: 24 },
    mark: "failed",
    role: "fail",
    below: "after their last attempt",
  },
  {
    metric: "waiting",
    lane: { name: "Waiting", colour: "c-move", heightPx: 24 },
    mark: "queued",
    role: "move",
    below: "still to be sent",
  },
];

/** What became of a thing's requests in the last 24 hours, each figure with the list that adds up to it. */
export const LastDay = ({ by, id }: { readonly by: "endpoint" | "source"; readonly id: string }) => {
  const stats = useAnswer<Stats>({ key: `${by} ${id}`, on: { topic: "events", id: null } }, () =>
    call("GET /v1/stats", { query: lastDayQuery({ by, id }, Date.now()) }),
  );
  const { body } = stats;
  return (
    <Section title="The last 24 h">
      {stats.problem === null ? null : (
        <LoadError what="The figures" failure={stats.problem} since={stats.since} onRetry={stats.again} />
      )}
      {body === null ? (
        stats.problem === null ? (
          <Loading rows={4} />
        ) : null
      ) : (
        <>
          <div class="sums five">
            {LANES.map(({ metric, lane, mark, role, below }) => (
              <Sum
                key={metric}
                name={lane.name}
                mark={<Mark name={mark} role={role} />}
                value={count(seriesOf(body, metric)?.value ?? 0)}
                below={below}
                href={listHref(seriesOf(body, metric))}
              />
            ))}
          </div>
          <LanesChart
            lanes={LANES.map(({ metric, lane }) => ({
              ...lane,
              values: seriesOf(body, metric)?.points.map(({ value }) => value) ?? [],
            }))}
            labels={(seriesOf(body, "delivered")?.points ?? []).map(({ at }) => bucketLabel(at, body))}
          />
        </>
      )}
    </Section>
  );
};
