import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { count, counted, euro, percent } from "../../design/format.ts";
import { Gauge } from "../../design/gauge.tsx";
import { Layer } from "../../design/layer.tsx";
import { Mark } from "../../design/mark.tsx";
import { LoadError, Loading } from "../../design/placeholders.tsx";
import { Breaking, Head, Note, Section, Time } from "../../design/text.tsx";
import { type AnswerOf, call, me } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import { now } from "../shell/clock.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import { Bar } from "./figures.tsx";
import { bucketLabel, LanesChart } from "./lanes-chart.tsx";
import { Thing } from "./listing.tsx";
import { roleWord } from "./settings-text.ts";
import { added, expectedEvents, includedADay, overageEur } from "./usage-figures.ts";
import { usageQuery } from "./usage-query.ts";

type Summary = AnswerOf<"GET /v1/billing/summary">;
type Offered = AnswerOf<"GET /v1/billing/plans">;
type Plan = Offered["plans"][number];
type Stats = AnswerOf<"GET /v1/stats">;
type Started = AnswerOf<"POST /v1/billing/checkout/start">;

/** Pages of orders are not the console's: the router would take a link on the same host for one of its own. */
const leaveFor = (address: string): void => location.assign(address);
const here = (): string => new URL("/usage", location.origin).href;

const openPortal = () => call("POST /v1/billing/portal", { body: { return_url: here() } });

type SumProps = { readonly name: string; readonly value: ComponentChildren; readonly below: ComponentChildren };

const Sum = ({ name, value, below }: SumProps) => (
  <div>
    <span>{name}</span>
    <b>{value}</b>
    <em>{below}</em>
  </div>
);

const planOf = ({ plans }: Offered, name: string): Plan | undefined => plans.find((it) => it.name === name);

type Figures = { readonly summary: Summary; readonly offered: Offered; readonly stats: Stats };

const daysOf = (stats: Stats, metric: "admitted" | "blocked") =>
  added(stats.series.filter((it) => it.metric === metric));

/** "Between 12,000 and 18,000": with its price, and how it was reckoned. */
const expectation = ({ summary, offered, stats }: Figures): { readonly value: string; readonly below: string } => {
  const { usage, period } = summary;
  const days = daysOf(stats, "admitted").map((it) => it.value);
  const expected = expectedEvents(usage.events, days, { end: period.end, now: now.value });
  if (expected === null) return { value: "–", below: "after the first full day" };
  const isStopped = planOf(offered, summary.plan)?.hard_stop === true;
  const bounded = (it: number): number => (isStopped ? Math.min(it, usage.included) : it);
  const [least, most] = [bounded(expected.least), bounded(expected.most)];
  const price = (events: number): number =>
    summary.price_eur_month + (isStopped ? 0 : overageEur(events, usage.included, offered.overage));
  const [from, to] = [euro(price(least)), euro(price(most))];
  return {
    value: least === most ? count(least) : `${count(least)}–${count(most)}`,
    below: from === to ? from : `${from} to ${to}`,
  };
};

const Sums = (figures: Figures) => {
  const { summary, offered } = figures;
  const { usage } = summary;
  const expected = expectation(figures);
  const isStopped = planOf(offered, summary.plan)?.hard_stop === true;
  return (
    <section aria-label="Figures of this month">
      <div class="sums four">
        <Sum
          name="Events"
          value={count(usage.events)}
          below={`${percent(usage.events, usage.included)} of ${count(usage.included)}`}
        />
        <Sum name="At the end of the month" value={expected.value} below={expected.below} />
        <Sum
          name="Overage"
          value={isStopped ? "none" : euro(usage.overage_eur)}
          below={isStopped ? "the plan stops at its limit" : counted(usage.overage_blocks, "begun block")}
        />
        <Sum
          name="So far"
          value={euro(summary.estimated_total_eur)}
          below={`${roleWord(summary.plan)}, ${euro(summary.price_eur_month)} a month`}
        />
      </div>
    </section>
  );
};

const Notes = ({ summary, offered }: Pick<Figures, "summary" | "offered">) => {
  const { scheduled_change: next, status, usage } = summary;
  const isFull = planOf(offered, summary.plan)?.hard_stop === true && usage.events >= usage.included;
  return (
    <>
      {status === "past_due" ? (
        <Note role="fail" mark="failed">
          <p>
            <b>The last payment failed.</b> Open the portal and give another means of payment.
          </p>
        </Note>
      ) : null}
      {isFull ? (
        <Note role="refuse" mark="refused">
          <p>
            <b>The month's events are used up.</b> Further ones are refused until <Time at={summary.period.end} />, or
            until you choose a larger plan.
          </p>
        </Note>
      ) : null}
      {next === null ? null : (
        <Note>
          <p>
            The plan becomes {roleWord(next.plan)} at <Time at={next.from} />.
          </p>
        </Note>
      )}
    </>
  );
};

const Limits = ({ summary, offered }: Pick<Figures, "summary" | "offered">) => {
  const { usage } = summary;
  const kept = planOf(offered, summary.plan)?.retention_days;
  const rows = [
    ["Events", usage.events, usage.included, "/events"],
    ["Sources", usage.sources, usage.sources_included, "/sources"],
  ] as const;
  return (
    <Section title="Used of the plan">
      <ul class="lines">
        {rows.map(([name, used, most, href]) => (
          <li key={name}>
            <span class="row">
              <a href={href}>{name}</a>
              <span class="end">
                {count(used)} of {count(most)}
              </span>
            </span>
            <Gauge parts={[{ kind: used > most ? "over" : "done", part: most === 0 ? 0 : used / most }]} />
          </li>
        ))}
      </ul>
      {kept === undefined ? null : (
        <p>
          <a href="/settings/privacy">Payloads</a> are kept for {counted(kept, "day")} after their event has ended.
        </p>
      )}
      <p class="meta">
        {counted(usage.blocked, "refused request")} of this month, from sources and agents and without samples, cost
        nothing and do not count.
      </p>
    </Section>
  );
};

const Days = ({ stats, summary: { usage, period } }: Pick<Figures, "stats" | "summary">) => {
  const [admitted, blocked] = [daysOf(stats, "admitted"), daysOf(stats, "blocked")];
  const lanes = [
    { name: "Admitted", colour: "area", heightPx: 110, values: admitted.map((it) => it.value) },
    { name: "Refused", colour: "c-refuse", heightPx: 34, values: blocked.map((it) => it.value) },
  ] as const;
  return (
    <Section
      title="Events per day"
      beside={<span class="meta">Of all sources, with samples; refused ones are free</span>}
    >
      <p class="soft">
        The plan has {count(usage.included)} for the month: {count(includedADay(usage.included, period))} for each day.
      </p>
      <LanesChart lanes={lanes} labels={admitted.map(({ at }) => bucketLabel(at, stats))} />
    </Section>
  );
};

const BySource = ({ stats }: { readonly stats: Stats }) => {
  const nameOf = useNames();
  const rows = stats.series.filter((it) => it.metric === "admitted" && (it.value ?? 0) > 0);
  const most = Math.max(1, ...rows.map((it) => it.value ?? 0));
  const { from, to } = stats;
  return (
    <Section title="By source" beside={<span class="meta">Admitted</span>}>
      {rows.length === 0 ? <p class="soft">No source sent an event in this month.</p> : null}
      <ul class="barlist plainly">
        {rows.map((it) => {
          const name = it.key === null ? counted(it.rest, "other source") : (nameOf(it.key) ?? it.key);
          const href = it.key === null ? null : hrefOf("/events", { source_id: it.key, from, to });
          return (
            <Bar key={it.key ?? ""} name={<Breaking text={name} />} href={href} value={it.value ?? 0} most={most} />
          );
        })}
      </ul>
    </Section>
  );
};

/** What changes with the plan stands here before the browser leaves for the payment. */
const Leave = ({
  plan,
  made,
  onClose,
}: {
  readonly plan: string;
  readonly made: Started;
  readonly onClose: () => void;
}) => (
  <Layer label={`Change to ${plan}`} kind="box" onClose={onClose}>
    <h3>Change to {plan}?</h3>
    <div class="stack tight">
      <p>
        The next page takes the order. A larger plan begins at once, a smaller one when the paid period ends. The link
        works until <Time at={made.expires_at} />.
      </p>
      {made.notices.map((it) => (
        <p key={it}>{it}</p>
      ))}
    </div>
    <div class="row">
      <button class="btn end" type="button" autofocus onClick={onClose}>
        Keep the present plan
      </button>
      <button class="btn first" type="button" onClick={() => leaveFor(made.checkout_url)}>
        Go to the order
      </button>
    </div>
  </Layer>
);

type Choosing = { readonly plan: string; readonly made: Started };

const PlanCard = ({
  plan,
  summary,
  offered,
  onChosen,
}: {
  readonly plan: Plan;
  readonly summary: Summary;
  readonly offered: Offered;
  readonly onChosen: (it: Choosing) => void;
}) => {
  const { name } = plan;
  const word = roleWord(name);
  const isHere = name === summary.plan;
  const { overage } = offered;
  return (
    <li class={isHere ? "here" : ""}>
      <h3>{word}</h3>
      <p>
        <b class="price">{euro(plan.price_eur_month)}</b> <span class="soft">a month</span>
      </p>
      <ul class="meta stack tight">
        <li>{counted(plan.events_per_month, "event")} a month</li>
        <li>
          {plan.hard_stop
            ? "further ones are refused"
            : `then ${euro(overage.price_eur)} for each begun ${count(overage.events)}`}
        </li>
        <li>{counted(plan.endpoints, "source")}</li>
        <li>payloads for {counted(plan.retention_days, "day")}</li>
      </ul>
      {isHere ? (
        <p class="st ok">
          <Mark name="delivered" /> Your plan
        </p>
      ) : null}
      {isHere || name === "free" ? null : (
        <Act
          label={`Choose ${word}`}
          act={() =>
            call("POST /v1/billing/checkout/start", { body: { plan: name, success_url: here(), cancel_url: here() } })
          }
          done={null}
          onDone={(made) => onChosen({ plan: word, made })}
          why={whyNotAdmin()}
          isTold
        />
      )}
    </li>
  );
};

const Plans = ({ summary, offered }: Pick<Figures, "summary" | "offered">) => {
  const [chosen, setChosen] = useState<Choosing | null>(null);
  return (
    <Section title="Plans" beside={<span class="meta">Every plan has every feature; they differ in volume</span>}>
      {whyNotAdmin() === null ? null : <p class="soft">{whyNotAdmin()}</p>}
      <ul class="plans">
        {offered.plans.map((plan) => (
          <PlanCard key={plan.name} plan={plan} summary={summary} offered={offered} onChosen={setChosen} />
        ))}
      </ul>
      {summary.plan === "free" ? null : (
        <p class="pager">
          <Act
            label="Cancel the plan"
            act={openPortal}
            done={null}
            onDone={(made) => leaveFor(made.portal_url)}
            why={whyNotAdmin()}
            isTold
            ask={{
              question: "Cancel the plan?",
              text: "The next page cancels it. It goes on until the paid period ends; then the account has the free plan.",
              keep: "Keep the plan",
            }}
          />
        </p>
      )}
      {chosen === null ? null : <Leave {...chosen} onClose={() => setChosen(null)} />}
    </Section>
  );
};

/** The figures of the month, by source and day. */
const UsageOf = ({ summary, offered }: Pick<Figures, "summary" | "offered">) => {
  const { start } = summary.period;
  const stats = useAnswer<Stats>({ key: start, on: { topic: "events", id: "" } }, () =>
    call("GET /v1/stats", { query: usageQuery(start) }),
  );
  return (
    <>
      <Notes summary={summary} offered={offered} />
      {stats.problem === null ? null : (
        <LoadError what="The figures" failure={stats.problem} since={stats.since} onRetry={stats.again} />
      )}
      {stats.body === null && stats.problem === null ? <Loading rows={4} /> : null}
      {stats.body === null ? null : (
        <>
          <Sums summary={summary} offered={offered} stats={stats.body} />
          <div class="third wide">
            <Days stats={stats.body} summary={summary} />
            <div class="stack">
              <Limits summary={summary} offered={offered} />
              <BySource stats={stats.body} />
            </div>
          </div>
          <p class="meta">
            The end of the month is reckoned from the quietest and the busiest of the last seven full days. The bill
            counts each admitted event of a source once, when it arrives; the days show events by what became of them.
            Samples and agents’ requests are free; Overview and Events have them, too.
          </p>
        </>
      )}
      <Plans summary={summary} offered={offered} />
    </>
  );
};

/** What will this month cost? */
const Usage = () => {
  const summary = useAnswer<Summary>({ key: "summary", on: { topic: "events", id: "" } }, () =>
    call("GET /v1/billing/summary"),
  );
  const offered = useAnswer<Offered>({ key: "plans", on: null }, () => call("GET /v1/billing/plans"));
  const period = summary.body?.period;
  const zone = me.value?.account.time_zone ?? "UTC";
  return (
    <>
      <Head
        title="Usage"
        meta={
          <>
            {period === undefined ? null : (
              <span>
                <Time at={period.start} /> to <Time at={period.end} />
              </span>
            )}
            <span>{zone === "UTC" ? zone : `${zone}; the month is one of UTC`}</span>
          </>
        }
        acts={
          <Act
            label="Open the portal"
            act={openPortal}
            done={null}
            onDone={(made) => leaveFor(made.portal_url)}
            why={whyNotAdmin()}
          />
        }
      />
      <Thing what="The usage" shown={summary}>
        {(it) => (
          <Thing what="The plans" shown={offered}>
            {(plans) => <UsageOf summary={it} offered={plans} />}
          </Thing>
        )}
      </Thing>
    </>
  );
};

export default Usage;
