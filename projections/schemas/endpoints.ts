import type { AttemptsBucket, CircuitDocument, EndpointDocument, LastFailure } from "../endpoints.ts";
import { amount, closed, count, list, oneOf, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT, FAILURE_KIND, histogram } from "./words.ts";

const LAST_FAILURE = closed<LastFailure>("The last attempt that failed.", {
  at: time("When it ended."),
  kind: FAILURE_KIND,
  status_code: orNull({ type: "integer", description: "The HTTP status of the answer." }, "there was no answer."),
  event_id: text("The event that was sent."),
  attempt: count("The number of the attempt among those of its event, from 1."),
});

const BUCKET = closed<AttemptsBucket>("The attempts that ended within five minutes.", {
  slot: count("The number of five-minute periods since 1970-01-01T00:00Z."),
  succeeded: count("Attempts answered with 2xx."),
  failed: count("All other attempts."),
  duration: histogram("How long the attempts took."),
});

const DISABLED = closed<NonNullable<EndpointDocument["disabled"]>>("Why nothing is delivered to it.", {
  reason: text("The reason."),
  at: time("When it was disabled."),
});

const CIRCUIT = closed<CircuitDocument>("The state of its deliveries.", {
  state: oneOf(
    ["healthy", "degraded", "open"],
    "degraded: some fail; open: deliveries wait, and single probes test whether the endpoint has recovered.",
  ),
  since: orNull(time("When this state began."), "it is healthy."),
  next_probe_at: orNull(time("When the next probe may be sent."), "it is not open."),
});

export const endpointsView: PublishedView = {
  view: "endpoints.v3",
  description: "Endpoints with their health. Deleted endpoints stay, for the events that name them.",
  id: "The endpoint's id, end_….",
  documents: [
    closed<EndpointDocument>("An endpoint, without its secrets.", {
      account: ACCOUNT,
      name: text("Its name."),
      url: text("Where events are sent."),
      timeout_ms: count("Milliseconds that an attempt may take."),
      retry_schedule_s: list(
        amount("Seconds."),
        "Seconds between attempts; after the last one the delivery has failed.",
      ),
      concurrency: count("The most concurrent requests."),
      rate_per_second: orNull(amount("The most requests a second."), "there is no limit."),
      notifications: list(
        { type: "string" },
        "The notifications that it receives besides its events, such as approval.requested.",
      ),
      policy_id: orNull(text("The policy for every event that is sent to it, pol_…."), "it has none."),
      header_names: list({ type: "string" }, "Its additional request headers; their values are not shown."),
      secret_headers: list({ type: "string" }, "The headers whose names, but not values, an approval is bound to."),
      created_at: time("When it was registered."),
      deleted: oneOf([0, 1], "1 if it was deleted."),
      disabled: orNull(DISABLED, "it is not disabled."),
      circuit: CIRCUIT,
      queued: count("Its admitted events that have not ended."),
      consecutive_failures: count("Failed attempts since the last successful one."),
      last_success_at: orNull(time("When an attempt last succeeded."), "none has."),
      last_failure: orNull(LAST_FAILURE, "none has failed."),
      buckets: list(BUCKET, "The hour before the newest attempt, oldest first; periods without attempts are left out."),
    }),
  ],
};
