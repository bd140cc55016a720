import { useContext, useState } from "preact/hooks";
import { Field } from "../../design/field.tsx";
import { counted, dayAndTime, duration } from "../../design/format.ts";
import { StateMark } from "../../design/mark.tsx";
import { Loading } from "../../design/placeholders.tsx";
import { Secret } from "../../design/secret.tsx";
import { Breaking, ClockContext, Facts, Head, Id, Note, Section, Time, Zone } from "../../design/text.tsx";
import { InTurns } from "../../design/virtual-rows.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import type { Problem } from "../api/calls.ts";
import { hrefOf } from "../shell/addresses.ts";
import { now } from "../shell/clock.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import { AdminsOnly } from "./admins-only.tsx";
import { usePolicyChoices } from "./choices.ts";
import { probeText, rotationText, stateText, waitingHref, waitingMessage } from "./endpoint-text.ts";
import { EndpointUses } from "./endpoint-uses.tsx";
import { successOf } from "./endpoints.tsx";
import { Choice, SendForm } from "./form.tsx";
import { LastDay } from "./last-day.tsx";
import { Thing } from "./listing.tsx";
import { MessageText } from "./message-text.tsx";
import { scheduleIn, scheduleText } from "./retry-schedule.ts";
import { eventTitle, whyOf } from "./why.ts";

type Endpoint = AnswerOf<"GET /v1/endpoints/{id}">;
type Tested = AnswerOf<"POST /v1/endpoints/{id}/test">;

const REFRESH_MS = 3_000;
const CLOSED: readonly string[] = ["open", "disabled"];

const testedText = ({ outcome, status_code: status, failure }: Tested): string => {
  const answer = status === null ? "no answer" : `HTTP ${status}`;
  return outcome === "succeeded" ? `The test was delivered: ${answer}.` : `${failure?.detail ?? answer}`;
};

/** The page of an event with one of its attempts open; of an event without attempts, its page. */
const attemptHref = (event: string, attempt: number | undefined): string =>
  hrefOf(`/events/${encodeURIComponent(event)}`, attempt ? { attempt: String(attempt) } : {});

/** The newest event that failed here; its page has the attempt and what the receiver answered. */
const LastFailure = ({ id }: { readonly id: string }) => {
  const shown = useAnswer<AnswerOf<"GET /v1/events">>(
    { key: `failed ${id}`, on: { topic: "events", id: null }, everyMs: 5_000 },
    () => call("GET /v1/events", { query: { endpoint_id: id, status: "failed", limit: 1 } }),
  );
  if (shown.body === null && shown.problem === null) return <Loading rows={1} />;
  const event = shown.body?.data[0];
  if (event === undefined) return null;
  return (
    <Section title="The last failure">
      <p>
        <a href={attemptHref(event.id, event.attempt_count)}>
          <Breaking text={eventTitle(event)} />
        </a>
        , <Time at={event.received_at} />: <span class="soft">{whyOf(event)}</span>
      </p>
    </Section>
  );
};

const UNREADABLE_SCHEDULE: Problem = {
  ...{ status: 0, code: "invalid-request", title: "Not saved", detail: "A pause cannot be read." },
  errors: [{ path: "/retry_schedule_s", message: "Write pauses with commas between them, such as 5 s, 2 min, 1 h." }],
};

const Change = ({ endpoint, onDone }: { readonly endpoint: Endpoint; readonly onDone: () => void }) => {
  const policies = usePolicyChoices();
  const { id, name, url, timeout_ms: timeout, concurrency, rate_per_second: rate } = endpoint;
  const { policy_id: policy, retry_schedule_s: schedule } = endpoint;
  const held = useAnswer<AnswerOf<"GET /v1/events">>(
    { key: id, on: { topic: "events", id: null }, everyMs: 5_000 },
    () => call("GET /v1/events", { query: { endpoint_id: id, status: "held", limit: 1, total: "true" } }),
  ).body?.total;
  if (policies === null) return <Loading />;
  return (
    <Section title="Change it">
      <SendForm
        label="Change it"
        button="Save"
        send={async (fields) => {
          const schedule = scheduleIn(fields.retry_schedule_s ?? "");
          if (schedule === null) return { ok: false, problem: UNREADABLE_SCHEDULE };
          return call("PATCH /v1/endpoints/{id}", {
            params: { id },
            body: {
              name: fields.name ?? "",
              url: fields.url ?? "",
              policy_id: fields.policy_id ?? null,
              timeout_ms: Number(fields.timeout_ms),
              concurrency: Number(fields.concurrency),
              rate_per_second: fields.rate_per_second === undefined ? null : Number(fields.rate_per_second),
              retry_schedule_s: schedule,
            },
          });
        }}
        done="The endpoint is changed."
        onDone={onDone}
      >
        {(faultOf) => (
          <>
            <Field label="Name" name="name" value={name} required maxLength={100} fault={faultOf("name")} />
            <Field
              label="Address"
              name="url"
              type="url"
              value={url}
              required
              fault={faultOf("url")}
              hint={
                held === undefined
                  ? "A changed address voids the requests that are held for it."
                  : `A changed address voids what is held for it: ${counted(held, "request")}.`
              }
            />
            <Choice label="Policy" name="policy_id" value={policy ?? ""} choices={policies} />
            <Field
              label="Time limit in ms"
              name="timeout_ms"
              type="number"
              value={String(timeout)}
              required
              fault={faultOf("timeout_ms")}
            />
            <Field
              label="Requests at once"
              name="concurrency"
              type="number"
              value={String(concurrency)}
              required
              fault={faultOf("concurrency")}
            />
            <Field
              label="Requests a second"
              name="rate_per_second"
              type="number"
              value={rate === null ? "" : String(rate)}
              fault={faultOf("rate_per_second")}
              hint="Empty: no limit"
            />
            <Field
              label="Retries after"
              name="retry_schedule_s"
              value={scheduleText(schedule)}
              autocomplete="off"
              fault={faultOf("retry_schedule_s")}
              hint="The pause before each further attempt, such as 5 s, 2 min, 1 h. Empty: an event is sent once."
            />
          </>
        )}
      </SendForm>
    </Section>
  );
};

/** The secret before signs as well for this time. */
const BOTH_SIGN_MS = 24 * 3_600_000;

const Rotate = ({ id }: { readonly id: string }) => {
  const clock = useContext(ClockContext);
  const [made, setMade] = useState<AnswerOf<"POST /v1/endpoints/{id}/secret"> | null>(null);
  return (
    <Section title="Signing secret">
      <p>Your application checks with it that a request came from here.</p>
      {made === null ? (
        <div class="row">
          <Act
            label="Rotate secret"
            act={() => call("POST /v1/endpoints/{id}/secret", { params: { id } })}
            done={null}
            onDone={setMade}
            why={null}
            ask={{
              question: "Rotate this secret?",
              text: rotationText(dayAndTime(clock.now + BOTH_SIGN_MS, clock)),
              keep: "Keep its secret",
            }}
          />
        </div>
      ) : (
        <>
          <Note>
            <p>
              Deliveries are signed with the old one as well until <Time at={made.previous_valid_until} />.
            </p>
          </Note>
          <Secret
            secret={made.signing_secret}
            title="This signing secret is shown once."
            text="If you lose it, make a new one."
            variable="COUNTERSIGN_SIGNING_SECRET"
            onDone={() => setMade(null)}
          />
        </>
      )}
    </Section>
  );
};

const Shown = ({ endpoint, onDone }: { readonly endpoint: Endpoint; readonly onDone: () => void }) => {
  const { id, name, url, health, disabled } = endpoint;
  const [tested, setTested] = useState<Tested | null>(null);
  const { state = "healthy", last_failure: failure } = health;
  const params = { id };
  const told = stateText(health, now.value);
  const waiting = waitingMessage({ id, health });
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
            <Zone />
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
                done={`The ${state === "open" ? "circuit is closed" : "endpoint is enabled"}, and waiting events are sent.`}
                onDone={onDone}
                why={whyNotAdmin()}
                isFirst
              />
            ) : null}
          </>
        }
      />
      {told === null ? null : (
        <Note mark={state} role={state === "open" ? "fail" : "wait"}>
          <p>
            {state === "open" ? <b>Circuit open.</b> : null} {told} {disabled?.reason ?? ""}
          </p>
          {waiting === null ? null : (
            <p>
              <MessageText message={waiting} />
            </p>
          )}
        </Note>
      )}
      {tested === null ? null : (
        <Note mark={tested.outcome === "succeeded" ? "delivered" : "failed"} isAlert>
          <p>{testedText(tested)}</p>
        </Note>
      )}
      <div class="half">
        <Section title="Health">
          <Facts
            rows={[
              ["Success in the last hour", successOf(health.success_rate_1h)],
              ["Half of the answers within", health.p50_ms == null ? "" : duration(health.p50_ms)],
              ["99 % of the answers within", health.p99_ms == null ? "" : duration(health.p99_ms)],
              ["Failures in a row", String(health.consecutive_failures ?? 0)],
              ["Waiting", <a href={waitingHref(id)}>{counted(health.queued ?? 0, "event")}</a>],
              ["Last success", health.last_success_at == null ? "" : <Time at={health.last_success_at} />],
              [
                "Last failure",
                failure?.at === undefined ? (
                  ""
                ) : (
                  <>
                    <a href={attemptHref(failure.event_id ?? "", failure.attempt)}>
                      {failure.status_code == null ? failure.kind : `HTTP ${failure.status_code}`}
                    </a>
                    , <Time at={failure.at} />
                  </>
                ),
              ],
              ["Next probe", state === "open" ? probeText(health, now.value) : ""],
            ]}
          />
        </Section>
        <Section title="Limits">
          <Facts
            rows={[
              ["Time limit", duration(endpoint.timeout_ms)],
              ["At once", String(endpoint.concurrency)],
              ["A second", endpoint.rate_per_second === null ? "no limit" : String(endpoint.rate_per_second)],
              ["Retries after", scheduleText(endpoint.retry_schedule_s) || "no retries"],
              ["Headers", Object.keys(endpoint.headers).join(", ")],
            ]}
          />
        </Section>
      </div>
      <InTurns first={0}>
        <LastDay by="endpoint" id={id} />
        <LastFailure id={id} />
        <p class="row">
          <a class="btn" href={hrefOf("/events", { endpoint_id: id })}>
            Its events
          </a>
          <a class="btn" href={hrefOf("/events", { endpoint_id: id, status: "failed" })}>
            Failed events
          </a>
        </p>
        <EndpointUses id={id} />
        <AdminsOnly to="change it, rotate its secret or delete it">
          <Change endpoint={endpoint} onDone={onDone} />
          <Rotate id={id} />
          <Section title="Delete this endpoint">
            <p>What waits for it is ended. It can be deleted once no source and no action names it.</p>
            <div class="row">
              <Act
                label="Delete"
                act={() => call("DELETE /v1/endpoints/{id}", { params })}
                done={`${name} is deleted.`}
                onDone={() => go("/endpoints", { isReplaced: true })}
                why={null}
                ask={{
                  question: `Delete ${name}?`,
                  text: "Deliveries that wait for it are ended, and it cannot be brought back.",
                  keep: "Keep it",
                }}
              />
            </div>
          </Section>
        </AdminsOnly>
      </InTurns>
    </>
  );
};

const EndpointPage = ({ params }: PageProps) => {
  const id = params.id ?? "";
  // How many wait for it changes with its events.
  const on = [
    { topic: "endpoints", id },
    { topic: "events", id: null },
  ];
  const shown = useAnswer<Endpoint>({ key: id, on, everyMs: REFRESH_MS }, () =>
    call("GET /v1/endpoints/{id}", { params: { id } }),
  );
  return (
    <Thing what="The endpoint" shown={shown}>
      {(endpoint) => <Shown endpoint={endpoint} onDone={shown.again} />}
    </Thing>
  );
};

export default EndpointPage;
