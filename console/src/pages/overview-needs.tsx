import { useEffect } from "preact/hooks";
import { countdown, euro } from "../../design/format.ts";
import { Mark } from "../../design/mark.tsx";
import { LoadError } from "../../design/placeholders.tsx";
import { stateOf } from "../../design/states.ts";
import { Section } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { now } from "../shell/clock.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { probeText } from "./endpoint-text.ts";
import { summaryText } from "./gate-words.ts";
import { REFUSALS } from "./refusals.ts";

type Attention = AnswerOf<"GET /v1/attention">;
type Need = Attention["data"][number];

/** It is counted anew for each call, and nothing in it is a matter of seconds. */
const REFRESH_MS = 3_000;

type Place = { readonly mark: string; readonly href: string; readonly act: string };

/** Where each need is met. */
const placeOf = ({ kind, subject, until }: Need): Place => {
  const id = encodeURIComponent(subject.id);
  switch (kind) {
    case "approvals":
      // The one that expires first, beside the list of all.
      return { mark: "held", href: `/approvals/${id}`, act: "Decide" };
    case "endpoint":
      return {
        // The next probe of an open circuit is known; a disabled endpoint has none.
        mark: stateOf(until === null ? "disabled" : "open").mark,
        href: `/endpoints/${id}`,
        act: "Open endpoint",
      };
    case "bundle":
      return { mark: "needsundo", href: `/bundles/${id}`, act: "See what is left" };
    case "budget":
      return { mark: "refused", href: `/policies/${id}`, act: "Open policy" };
    case "source":
      return { mark: "refused", href: `/sources/${id}`, act: "Open source" };
  }
};

const USED = /^(\d+\.\d+) of (\d+\.\d+) EUR of today are spent or reserved\.$/;
const MOSTLY = /, mostly as ([a-z-]+)\.$/;

/** The API's text with sums as euros and reasons in words. */
const told = ({ kind, detail, count, until }: Need): string => {
  if (kind === "budget")
    return detail.replace(USED, (_, used: string, limit: string) => {
      const share = `${euro(Number(used))} of ${euro(Number(limit))}`;
      return `${share} is spent or reserved today; it resets at midnight.`;
    });
  if (kind === "endpoint" && count > 0 && until !== null)
    return `${detail} The next probe is ${probeText({ state: "open", queued: count, next_probe_at: until }, now.value)}.`;
  if (kind === "source") {
    const why = detail.replace(MOSTLY, (all, reason: string) => {
      const known = Object.hasOwn(REFUSALS, reason) ? REFUSALS[reason as keyof typeof REFUSALS] : undefined;
      return known === undefined ? all : `, mostly because the signature ${known.why}.`;
    });
    return `${why} ${count === 1 ? "It is" : "They are"} no event and in no figure below.`;
  }
  return summaryText(detail);
};

/** Approvals say themselves what they are about. */
const whatOf = (need: Need): readonly [string, string] => {
  const { kind, subject } = need;
  if (kind !== "approvals") return [`${subject.name}.`, told(need)];
  const left = need.until === null ? null : countdown(Math.max(0, Date.parse(need.until) - now.value));
  const detail = left === null ? told(need) : `${told(need)} It expires in ${left}.`;
  const end = detail.indexOf(". ") + 1;
  return end === 0 ? [detail, ""] : [detail.slice(0, end), detail.slice(end)];
};

type NeedsProps = {
  /** False while what stands above it is read. */
  readonly isShown: boolean;
  readonly onLoaded: () => void;
};

/** What needs a person, the worst first. */
export const NeedsAPerson = ({ isShown, onLoaded }: NeedsProps) => {
  const shown = useAnswer<Attention>(
    { key: "attention", isKept: true, on: { topic: "events", id: null }, everyMs: REFRESH_MS },
    () => call("GET /v1/attention"),
  );
  const isLoaded = shown.body !== null || shown.problem !== null;
  useEffect(() => {
    if (isLoaded) onLoaded();
  }, [isLoaded]);
  const needs = shown.body?.data ?? [];
  if (!isShown) return null;
  return (
    <Section title="Needs a person">
      {shown.problem === null ? null : (
        <LoadError what="The list" failure={shown.problem} since={shown.since} onRetry={shown.again} />
      )}
      {shown.body !== null && needs.length === 0 ? <p class="soft">Nothing waits for a person.</p> : null}
      <ul class="todo">
        {needs.map((need, nth) => {
          const { mark, href, act } = placeOf(need);
          const [what, more] = whatOf(need);
          return (
            <li key={`${need.kind} ${need.subject.id}`}>
              <Mark name={mark} role={need.severity === "critical" ? "fail" : "wait"} />
              <span>
                <b>{what}</b> <span class="soft">{more}</span>
              </span>
              <a class={nth === 0 ? "btn first" : "btn"} href={href}>
                {act}
              </a>
            </li>
          );
        })}
      </ul>
    </Section>
  );
};
