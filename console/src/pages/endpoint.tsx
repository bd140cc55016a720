import { useState } from "preact/hooks";
import { duration } from "../../design/format.ts";
import { StateMark } from "../../design/mark.tsx";
import { Breaking, Facts, Head, Id, Note, Section, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import { successOf } from "./endpoints.tsx";
import { Thing } from "./listing.tsx";

type Endpoint = AnswerOf<"GET /v1/endpoints/{id}">;
type Tested = AnswerOf<"POST /v1/endpoints/{id}/test">;

const CLOSED: readonly string[] = ["open", "disabled"];

const TOLD: Readonly<Record<string, string>> = {
  degraded: "Some deliveries fail. Events are sent as before.",
  open: "Too many failures in a row. New events wait and are kept; the first probe that succeeds resumes delivery.",
  disabled: "Events wait until the endpoint is enabled.",
};

const testedText = ({ outcome, status_code: status, failure }: Tested): string => {
  const answer = status === null ? "no answer" : `HTTP ${status}`;
  return outcome === "succeeded" ? `The test was delivered: ${answer}.` : `${failure?.detail ?? answer}`;
};

const Shown = ({ endpoint, onDone }: { readonly endpoint: Endpoint; readonly onDone: () => void }) => {
  const { id, name, url, health, disabled } = endpoint;
  const [tested, setTested] = useState<Tested | null>(null);
  const { state = "healthy", last_failure: failure } = health;
  const params = { id };
  return (
    <>
      <Head
        title={<Breaking text={name} />}
        meta={
          <>
            <StateMark value={state} />
            <span>
              <Breaking text={url} />
            </span>
            <Id id={id} />
          </>
        }
        acts={
          <>
            <Act
              label="Test"
              act={() => call("POST /v1/endpoints/{id}/test", { params })}
              done={null}
              onDone={setTested}
              why={whyNotAdmin()}
            />
            {CLOSED.includes(state) ? (
              <Act
                label={state === "open" ? "Close the circuit" : "Enable"}
                act={() => call("POST /v1/endpoints/{id}/enable", { params })}
                done="The endpoint is enabled, and waiting events are sent."
                onDone={onDone}
                why={whyNotAdmin()}
                isFirst
              />
            ) : null}
          </>
        }
      />
      {TOLD[state] === undefined ? null : (
        <Note mark={state} role={state === "open" ? "fail" : "wait"}>
          <p>
            {TOLD[state]} {disabled?.reason ?? ""}
          </p>
        </Note>
      )}
      {tested === null ? null : (
        <Note mark={tested.outcome === "succeeded" ? "delivered" : "failed"} isAlert>
          <p>{testedText(tested)}</p>
        </Note>
      )}
      <Section title="Health">
        <Facts
          rows={[
            ["Success in the last hour", successOf(health.success_rate_1h)],
            ["Half of the answers within", health.p50_ms == null ? "" : duration(health.p50_ms)],
            ["99 % of the answers within", health.p99_ms == null ? "" : duration(health.p99_ms)],
            ["Failures in a row", String(health.consecutive_failures ?? 0)],
            ["Waiting", String(health.queued ?? 0)],
            ["Last success", health.last_success_at == null ? "" : <Time at={health.last_success_at} />],
            [
              "Last failure",
              failure?.at === undefined ? (
                ""
              ) : (
                <>
                  {failure.kind} {failure.status_code ?? ""} <Time at={failure.at} />
                </>
              ),
            ],
            ["Next probe", health.next_probe_at == null ? "" : <Time at={health.next_probe_at} />],
          ]}
        />
      </Section>
      <Section title="Limits">
        <Facts
          rows={[
            ["Time limit", duration(endpoint.timeout_ms)],
            ["At once", String(endpoint.concurrency)],
            ["A second", endpoint.rate_per_second === null ? "no limit" : String(endpoint.rate_per_second)],
            ["Retries after", endpoint.retry_schedule_s.map((it) => duration(it * 1_000)).join(", ")],
            ["Headers", Object.keys(endpoint.headers).join(", ")],
          ]}
        />
      </Section>
      <p class="row">
        <a class="btn" href={hrefOf("/events", { endpoint_id: id })}>
          Its events
        </a>
        <a class="btn" href={hrefOf("/events", { endpoint_id: id, status: "failed" })}>
          Failed events
        </a>
      </p>
    </>
  );
};

const EndpointPage = ({ params }: PageProps) => {
  const id = params.id ?? "";
  const shown = useAnswer<Endpoint>({ key: id, on: { topic: "endpoints", id } }, () =>
    call("GET /v1/endpoints/{id}", { params: { id } }),
  );
  return (
    <Thing what="The endpoint" shown={shown}>
      {(endpoint) => <Shown endpoint={endpoint} onDone={shown.again} />}
    </Thing>
  );
};

export default EndpointPage;
