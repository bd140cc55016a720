import { failureOf } from "../../../domain/delivery/failure-of.ts";
import { endpoint as endpointDecider, type PresentEndpoint } from "../../../domain/endpoint/decider.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import type { HttpSender } from "../../../domain/ports/sender.ts";
import { derivedId } from "../../../infra/crypto/ids.ts";
import type { RecordCall } from "../../calls/call-records.ts";
import type { Outbound } from "../../delivery/outbound.ts";
import { type Answer, type Call, positionOf } from "../../http/route.ts";
import type { Aggregates } from "../../streams/aggregates.ts";

export type EndpointTestDeps = {
  readonly aggregates: Pick<Aggregates, "handle">;
  readonly sender: Pick<HttpSender, "send">;
  readonly outbound: Pick<Outbound, "headers">;
  readonly clock: Clock;
  readonly recordCall: RecordCall;
  /** Makes the deliverer look for due deliveries, because a successful test may have closed the circuit. */
  readonly wake: () => void;
};

/** A test never waits longer, whatever the endpoint's own timeout is, because its caller waits for the result. */
const TIMEOUT_MAX_MS = 15_000;
/** A test tells whether the endpoint works, but is not counted as an attempt. */
const NOTHING_COUNTED = {
  consecutiveFailures: 0,
  failingSince: null,
  lastFailureAt: null,
  attempts: 0,
  failed: 0,
} as const;

/** Sends a test even to a disabled endpoint, to try it before it is enabled. A success closes an open circuit. */
export const sendTest =
  (deps: EndpointTestDeps) =>
  async (call: Call, endpoint: PresentEndpoint): Promise<Answer> => {
    const { account } = call.principal;
    const { envelope } = call;
    const { commandId, trace, at } = envelope;
    const { endpointId, settings, circuit, disabled } = endpoint;
    const eventId = derivedId("test_", account, commandId);
    const data = { endpoint_id: endpointId };
    const body = Buffer.from(JSON.stringify({ type: "countersign.test", timestamp: at, data }));
    const nowMs = deps.clock.now();
    const headers = deps.outbound.headers({
      job: { eventId, account, endpointId },
      endpoint,
      number: 1,
      contentType: "application/json",
      contentEncoding: "",
      body,
      trace,
      nowMs,
    });
    // The test is recorded before it is sent, so that no signed request is sent without a record.
    const test = { endpoint_id: endpointId, webhook_id: eventId, url: settings.url, at };
    const recorded = await deps.recordCall(endpointId, call, (client) => ({
      type: "EndpointTestSent",
      data: { ...test, client },
    }));
    const timeoutMs = Math.min(settings.timeout_ms, TIMEOUT_MAX_MS);
    const sent = await deps.sender.send({ account, url: settings.url, headers, body, timeoutMs });
    const failure = failureOf(sent);
    const answer = {
      outcome: failure === null ? "succeeded" : "failed",
      status_code: sent.statusCode ?? null,
      timings_ms: sent.timings,
      failure,
    };
    if (failure !== null || disabled !== null || circuit.state !== "open")
      return { status: 200, body: answer, ...positionOf({ position: recorded }) };

    const endedAt = new Date(deps.clock.now()).toISOString();
    const seen = { startedAt: new Date(nowMs).toISOString(), succeeded: true, notBefore: null };
    const command = { type: "ReportAttempt", account, attempt: seen, counts: NOTHING_COUNTED, at: endedAt } as const;
    const done = await deps.aggregates.handle(endpointDecider, `endpoint-${endpointId}`, command, envelope);
    deps.wake();
    return { status: 200, body: answer, ...(done.outcome === "rejected" ? {} : positionOf(done)) };
  };
