import type { AttemptsBucket, CircuitDocument, EndpointDocument, LastFailure } from "../endpoints.ts";
import { amount, closed, count, list, oneOf, optional, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT, FAILURE_KIND, histogram } from "./words.ts";

const LAST_FAILURE = closed<LastFailure>("The last attempt that failed.", {
  at: time("When it ended."),
  kind: FAILURE_KIND,
  status_code: orNull({ type: "integer", description: "The HTTP status of the answer." }, "there was no answer."),
});

const BUCKET = closed<AttemptsBucket>("The attempts that ended within five minutes.", {
  slot: count("Which five minutes: their number since 1970-01-01T00:00Z."),
  succeeded: count("Attempts answered with 2xx."),
  failed: count("All others."),
  duration: histogram("How long the attempts took."),
});

const DISABLED = closed<NonNullable<EndpointDocument["disabled"]>>("Why nothing is delivered.", {
  reason: text("What it was disabled for."),
  at: time("When it was disabled."),
});

const CIRCUIT = closed<CircuitDocument>("How its deliveries go, by its own records.", {
  state: oneOf(
    ["healthy", "degraded", "open"],
    "degraded: some of them fail; open: they wait, and single ones find out whether it is well again.",
  ),
  since: orNull(time("When it was found to be so."), "it is healthy."),
  next_probe_at: orNull(time("When the next one finds out, if one waits."), "it is not open."),
});

export const endpointsView: PublishedView = {
  view: "endpoints.v2",
  description: "Where events are delivered, and how that goes. Deleted endpoints stay, for the events that name them.",
  id: "The endpoint's id, end_….",
  documents: [
    closed<EndpointDocument>("An endpoint, without its secrets.", {
      account: ACCOUNT,
      name: text("What the account calls it."),
      url: text("Where events are sent."),
      timeout_ms: count("Milliseconds that an attempt may take."),
      retry_schedule_s: list(
        amount("Seconds."),
        "Seconds between one attempt and the next; when it is used up, it failed.",
      ),
      concurrency: count("Requests that may be under way at once."),
      rate_per_second: orNull(amount("Requests that may begin in a second."), "any number."),
      notifications: list({ type: "string" }, "What it is told of besides its events, such as approval.requested."),
      policy_id: optional(
        orNull(text("The policy that whatever goes there has to pass, whoever asks, pol_…."), "it has none."),
      ),
      header_names: list({ type: "string" }, "The headers of its own that are sent along; their values are not shown."),
      secret_headers: list({ type: "string" }, "Those of them that an approval is bound to by name alone."),
      created_at: time("When it was registered."),
      deleted: oneOf([0, 1], "1 when it was deleted."),
      disabled: orNull(DISABLED, "it is not disabled."),
      circuit: CIRCUIT,
      queued: count("Events admitted for it that have not come to an end."),
      consecutive_failures: count("Attempts that failed since the last that succeeded."),
      last_success_at: orNull(time("When an attempt last succeeded."), "none has."),
      last_failure: orNull(LAST_FAILURE, "none has failed."),
      buckets: list(BUCKET, "The hour before the newest attempt, oldest first; times without attempts are left out."),
    }),
  ],
};
