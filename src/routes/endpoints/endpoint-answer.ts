import type { PresentEndpoint } from "../../../domain/endpoint/decider.ts";
import {
  type CircuitDocument,
  type EndpointDocument,
  endpoints,
  headerNames,
  healthOf,
} from "../../../projections/endpoints.ts";
import { documentIn } from "../../views/typed-documents.ts";
import type { EndpointsDeps } from "./endpoint-commands.ts";
import { REDACTED } from "./endpoint-input.ts";

const headerAnswer = (name: string, { secret_headers }: EndpointDocument) =>
  secret_headers.includes(name) ? { value: REDACTED, secret: true } : REDACTED;

export const endpointAnswer = (id: string, it: EndpointDocument, nowMs: number) => ({
  id,
  name: it.name,
  url: it.url,
  timeout_ms: it.timeout_ms,
  retry_schedule_s: it.retry_schedule_s,
  concurrency: it.concurrency,
  rate_per_second: it.rate_per_second,
  headers: Object.fromEntries(it.header_names.map((name) => [name, headerAnswer(name, it)])),
  notifications: it.notifications,
  policy_id: it.policy_id,
  disabled: it.disabled,
  created_at: it.created_at,
  health: healthOf(it, nowMs),
});

/** Figures shown for an endpoint to which nothing was sent yet. */
const untried = {
  deleted: 0,
  queued: 0,
  consecutive_failures: 0,
  last_success_at: null,
  last_failure: null,
  buckets: [],
} as const;

/** The endpoint's settings come from its stream, the figures of its deliveries from the view, which may lag. */
export const presentEndpointAnswer = async (
  { views, clock }: Pick<EndpointsDeps, "views" | "clock">,
  state: PresentEndpoint,
) => {
  const { endpointId, account, disabled, circuit: is, createdAt: created_at } = state;
  const { headers, ...settings } = state.settings;
  const seen = await documentIn(views, endpoints, endpointId);
  const circuit: CircuitDocument = {
    state: is.state,
    since: is.state === "healthy" ? null : is.since,
    next_probe_at: is.state === "open" ? is.nextProbeAt : null,
  };
  const own = { ...settings, account, ...headerNames(headers), disabled, circuit, created_at };
  return endpointAnswer(endpointId, { ...untried, ...seen, ...own }, clock.now());
};
