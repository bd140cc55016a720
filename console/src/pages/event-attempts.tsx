import { useEffect, useRef } from "preact/hooks";
import type { Filter } from "../../design/filter-values.ts";
import { count, counted, duration } from "../../design/format.ts";
import { useKeys } from "../../design/keys.ts";
import { StateMark } from "../../design/mark.tsx";
import { LoadError } from "../../design/placeholders.tsx";
import { Facts, Section, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { type AllPages, useAllPages } from "../shell/use-all-pages.ts";
import { NOT_ASKED, type Shown, useAnswer } from "../shell/use-answer.ts";

type Event = AnswerOf<"GET /v1/events/{id}">;
type Attempt = Event["attempts"][number];
type Endpoint = AnswerOf<"GET /v1/endpoints/{id}">;

/** What the API gives in one page. */
const PAGE = 1_000;

const PHASES = [
  ["dns", "DNS"],
  ["connect", "connect"],
  ["tls", "TLS"],
  ["first_byte", "first byte after"],
] as const;

const phasesOf = ({ timings_ms: timings }: Attempt): string =>
  timings === null
    ? ""
    : PHASES.flatMap(([name, word]) => {
        const ms = timings[name];
        return ms === null || ms === 0 ? [] : [`${word} ${duration(ms)}`];
      }).join(" · ");

const answerOf = ({ status_code, failure }: Attempt): string => {
  if (status_code !== null) return `HTTP ${status_code}`;
  return failure === null ? "" : failure.kind;
};

type OneProps = {
  readonly attempt: Attempt;
  /** Null if it cannot be read; undefined while it is read, so that its line keeps its place. */
  readonly endpoint: Endpoint | null | undefined;
  /** True if the address names it. */
  readonly isOpen: boolean;
};

const OneAttempt = ({ attempt, endpoint, isOpen }: OneProps) => {
  const { number, outcome, response, failure } = attempt;
  const answer = answerOf(attempt);
  const word = `${outcome === "unknown" ? "Outcome unknown" : outcome.charAt(0).toUpperCase() + outcome.slice(1)}${answer === "" ? "" : `, ${answer}`}`;
  const type = response?.headers["content-type"];
  const webhook = attempt.request?.headers["webhook-id"];
  return (
    <section class="stack tight" aria-label={`Attempt ${number}`} aria-current={isOpen ? "true" : undefined}>
      <header class="row">
        <h3>Attempt {number}</h3>
        <StateMark value={outcome} word={word} />
        <span class="end meta">
          <Time at={attempt.started_at} as="clock" />
        </span>
      </header>
      <Facts
        rows={[
          ["Took", attempt.duration_ms === null ? "" : duration(attempt.duration_ms)],
          ["Phases", phasesOf(attempt)],
          [
            "Sent to",
            endpoint === null ? (
              ""
            ) : endpoint === undefined ? (
              <code class="unseen">POST</code>
            ) : (
              <>
                <code>POST {endpoint.url}</code> <span class="quiet">the present address of {endpoint.name}</span>
              </>
            ),
          ],
          [
            "webhook-id",
            webhook === undefined ? (
              ""
            ) : (
              <>
                <code>{webhook}</code> <span class="quiet">the same on every attempt</span>
              </>
            ),
          ],
          ["Why", failure?.detail ?? ""],
          ["Next", attempt.next_attempt_at === null ? "" : <Time at={attempt.next_attempt_at} as="precise" />],
          ["Type", type === undefined ? "" : <code>{type}</code>],
        ]}
      />
      {response?.body ? (
        <div class="code wrap" tabIndex={0} role="region" aria-label={`Answer of attempt ${number}`}>
          {response.encoding === "base64" ? `${response.body.length} characters of base64` : response.body}
          {response.truncated ? "\n… (cut)" : ""}
        </div>
      ) : null}
    </section>
  );
};

type OtherProps = { readonly all: AllPages<Attempt>; readonly left: number };

/** Of very many attempts an event's own answer has the first and the last; the others are read once they are asked for. */
const Others = ({ all, left }: OtherProps) => (
  <>
    {all.problem === null ? null : (
      <LoadError what="The attempts" failure={all.problem} since={null} onRetry={all.read} />
    )}
    {left > 0 ? (
      <p class="row">
        <span class="meta">
          {all.loaded === 0
            ? `${counted(left, "attempt")} in the middle ${left === 1 ? "is" : "are"} not shown.`
            : `${counted(all.loaded, "attempt")} read so far.`}
        </span>
        <button class="btn" type="button" disabled={all.loaded > 0} onClick={all.read}>
          Show all attempts
        </button>
      </p>
    ) : null}
  </>
);

const useEndpoint = (id: string | null): Shown<Endpoint | null> =>
  useAnswer<Endpoint | null>({ key: id ?? "", on: null }, async () =>
    id === null ? NOT_ASKED : call("GET /v1/endpoints/{id}", { params: { id } }),
  );

const countOf = ({ attempts, attempts_left_out: left }: Event): number => attempts.length + left;

/** The number in an address; null if the event has no such attempt. */
const attemptIn = (text: string | undefined, event: Event): number | null => {
  const number = /^\d{1,9}$/.test(text ?? "") ? Number(text) : 0;
  return number >= 1 && number <= countOf(event) ? number : null;
};

/** Which attempt is open. */
export const attemptFilter = (event: Event): Filter => ({
  ...{ name: "attempt", label: "Attempt", choices: [], expects: null },
  check({ attempt }) {
    if (attempt === undefined || attemptIn(attempt, event) !== null) return null;
    const total = countOf(event);
    if (total < 2) return total === 0 ? "This event has no attempt." : "This event has one attempt, which is 1.";
    return `Write the number of an attempt, from 1 to ${count(total)}.`;
  },
});

type AttemptsProps = { readonly event: Event; readonly query: PageProps["query"] };

/** Two attempts at a time; `[` and `]` show the others. The address names one of them. */
export const Attempts = ({ event, query }: AttemptsProps) => {
  const { id, attempts_left_out: leftOut } = event;
  const { body: endpoint, problem } = useEndpoint(event.attempts.length === 0 ? null : event.endpoint_id);
  const all = useAllPages<Attempt>((cursor) =>
    call("GET /v1/events/{id}/attempts", {
      params: { id },
      query: { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) },
    }),
  );
  const attempts = all.rows ?? event.attempts;
  const left = all.rows === null ? leftOut : 0;
  const last = Math.max(0, attempts.length - 2);
  const wanted = attemptIn(query.attempt, event);
  const at = wanted === null ? -1 : attempts.findIndex(({ number }) => number === wanted);
  const first = at === -1 ? last : Math.min(at, last);
  const move = (by: number): void => {
    const next = attempts[Math.min(last, Math.max(0, first + by))];
    if (next === undefined) return;
    const href = hrefOf(`/events/${encodeURIComponent(id)}`, { ...query, attempt: String(next.number) });
    go(href, { isReplaced: true });
  };
  const isFar = wanted !== null && at === -1 && left > 0;
  useEffect(() => {
    if (isFar) all.read();
  }, [isFar]);
  const open = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (at !== -1) open.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [at]);
  useKeys({ "[": () => move(-1), "]": () => move(1) });
  if (attempts.length === 0) return null;
  const sentTo = endpoint === null && problem === null && event.endpoint_id !== null ? undefined : endpoint;
  const total = attempts.length + left;
  return (
    <Section
      title="Attempts"
      beside={
        <>
          <span class="meta">
            {attempts.length > 2
              ? `${attempts[first]?.number ?? ""} and ${attempts[first + 1]?.number ?? ""} of ${count(total)}`
              : counted(total, "attempt")}
          </span>
          {attempts.length > 2 ? (
            <div class="seg" role="group" aria-label="Which attempts">
              <button type="button" onClick={() => move(-1)} disabled={first === 0}>
                Previous
              </button>
              <button type="button" onClick={() => move(1)} disabled={first === last}>
                Next
              </button>
            </div>
          ) : null}
        </>
      }
    >
      <div class="half" ref={open}>
        {attempts.slice(first, first + 2).map((attempt) => (
          <OneAttempt
            key={attempt.number}
            attempt={attempt}
            endpoint={sentTo}
            isOpen={attempts.length > 1 && attempt.number === wanted}
          />
        ))}
      </div>
      <Others all={all} left={left} />
    </Section>
  );
};
