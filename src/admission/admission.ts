import { delivery } from "../../domain/delivery/decider.ts";
import type { Delivery } from "../../domain/delivery/state.ts";
import { statusOf } from "../../domain/delivery/status.ts";
import { activeSecrets, type PresentSource } from "../../domain/source/decider.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import type { SecretBox } from "../../infra/crypto/secret-box.ts";
import { approvalRequests } from "../approvals/approval-requests.ts";
import { DIRECT_BYTES_MAX, type Documents } from "../documents/documents.ts";
import type { IdentityOrder } from "../documents/identity.ts";
import { type IncomingRequest, jsonOf } from "../gates/incoming-request.ts";
import { type Answer, positionOf } from "../http/route.ts";
import { answerDirectly, type Identity, identify, isByBody } from "../providers/identify.ts";
import { redactHeaders } from "../providers/redact.ts";
import { type WebhookRequest, webhookRequest } from "../providers/request.ts";
import { verify } from "../providers/verify.ts";
import type { Trace } from "../streams/envelope.ts";
import { eventIdOf } from "../streams/event-id.ts";
import { type Problem, problem } from "../streams/problems.ts";
import { foldStream, type StreamState } from "../streams/run-command.ts";
import type { ActiveSource } from "./active-source.ts";
import { withoutBodyDigest } from "./body-digests.ts";
import { bodyKeys } from "./body-keys.ts";
import { type ClaimDeps, claiming, UNKNOWN } from "./claim.ts";
import type { Counts } from "./counts.ts";
import { refusal } from "./refusal.ts";
import type { Webhook } from "./webhook.ts";

export type AdmissionDeps = ClaimDeps & {
  readonly activeSource: ActiveSource;
  readonly box: Pick<SecretBox, "open">;
  readonly counts: Counts;
  readonly publicUrl: () => string;
  /** Reads large bodies for their delivery id and type. Left out: this thread reads them. */
  readonly arrived?: Pick<Documents, "run">;
};

type Received = IncomingRequest & { readonly source: PresentSource };

/** An answer or a refusal, and never an exception but for the log's own. */
export type Admission = (webhook: Webhook) => Promise<Answer | Problem>;

const iso = (ms: number): string => new Date(ms).toISOString();

export const admission = (deps: AdmissionDeps): Admission => {
  const { log, clock } = deps;
  const claim = claiming(deps);
  const approvals = approvalRequests(deps);
  const withKeyOfBody = bodyKeys(deps);
  /** By event, the request of this process that is being decided. Others with the same body answer with its outcome. */
  const flights = new Map<string, { readonly body: Buffer; readonly landed: Promise<Answer | Problem> }>();
  const seen = recentIds();

  const secretsOf = (sourceId: string, source: PresentSource, nowMs: number): string[] =>
    activeSecrets(source, iso(nowMs)).map((sealed) =>
      deps.box.open(sealed, { account: source.account, stream: `source-${sourceId}`, field: "secret" }),
    );

  const duplicate = async (it: Received, known: StreamState<Delivery>): Promise<Answer | Problem> => {
    const { state } = known;
    const { eventId, account, body, trace } = it;
    const event = { account, id: eventId };
    const first = "request" in state ? state.request.payload : null;
    const kept = first === null ? null : await deps.payloads.read(eventId, first);
    // After an erasure nothing is left to compare with, nor if it is damaged.
    if (kept !== null && kept !== "damaged" && !kept.body.equals(body)) return reused(event, trace);
    const position = await approvals.recorded(`delivery-${eventId}`, known);
    deps.counts.duplicate(event, trace);
    const answer = { event_id: eventId, status: statusOf(state), duplicate: true };
    return { status: 200, body: answer, ...positionOf({ position }) };
  };

  const reused = (event: { account: string; id: string }, trace: Trace): Problem => {
    deps.counts.reused(event, trace);
    const detail =
      "The body differs from the one that came first with this delivery id: send a new event under a new id.";
    return problem("delivery-id-reused", detail, { extra: { event_id: event.id } });
  };

  const decided = async (it: Received, from: StreamState<Delivery>): Promise<Answer | Problem> => {
    const claimed = await claim(it, from);
    if (claimed.outcome === "taken") return duplicate(it, claimed.known);
    if (claimed.outcome === "refused") return refusal({ event_id: it.eventId }, claimed.judged);
    const { known, position } = claimed;
    const { state } = known;
    const approval = state.phase === "held" ? { approval_id: state.approval.approval_id } : {};
    return { status: 202, body: { event_id: it.eventId, status: statusOf(state), ...approval }, position };
  };

  /** Most webhooks are new, so nothing is read for one that is not known to have come: its appends conflict if it has. */
  const decideFirst = async (it: Received): Promise<Answer | Problem> => {
    const stream = `delivery-${it.eventId}`;
    const known = seen.has(it.eventId) ? await foldStream(log, delivery, stream) : UNKNOWN;
    seen.add(it.eventId);
    return decided(it, known);
  };

  const decideOnce = async (it: Received): Promise<Answer | Problem> => {
    for (let flight = flights.get(it.eventId); flight !== undefined; flight = flights.get(it.eventId)) {
      if (flight.body.equals(it.body)) return follow(it, await flight.landed);
      // Only an event that was claimed makes another body a reuse, and what becomes of this one is not known yet.
      await flight.landed.catch(() => undefined);
    }
    const landed = decideFirst(it);
    flights.set(it.eventId, { body: it.body, landed });
    try {
      return await landed;
    } finally {
      flights.delete(it.eventId);
    }
  };

  const follow = (it: Received, outcome: Answer | Problem): Answer | Problem => {
    const event = { account: it.account, id: it.eventId };
    if ("problem" in outcome) {
      if (outcome.problem === "delivery-id-reused") deps.counts.reused(event, it.trace);
      return outcome;
    }
    const { trace_id } = it.trace;
    const ms = Math.max(0, clock.now() - it.receivedAt);
    deps.onDecided?.({ trace_id, id: it.eventId, origin: "source", outcome: "duplicate", gate: null, code: null, ms });
    deps.counts.duplicate(event, it.trace);
    // The answer of an admission or of a duplicate is this object.
    return { ...outcome, status: 200, body: { ...(outcome.body as object), duplicate: true } };
  };

  /** A small body is parsed once, for this and for the gates. A large one is not parsed by this thread. */
  const identity = async (account: string, order: IdentityOrder, request: WebhookRequest): Promise<Identity> =>
    deps.arrived === undefined || order.body.length <= DIRECT_BYTES_MAX
      ? identify(order.type, request, order.dedupe)
      : deps.arrived.run(account, "identity", order);

  return async (webhook) => {
    const { sourceId, headers, rawHeaders, body } = webhook;
    const source = await deps.activeSource(webhook.provider, sourceId);
    if ("problem" in source) return source;
    const nowMs = clock.now();
    const { type, auth, dedupe, account } = source;
    const url = `${deps.publicUrl()}/v1/webhooks/${type}/${sourceId}`;
    const request = webhookRequest({ headers, rawHeaders, body, url }, jsonOf);
    const ping = answerDirectly(type, "unsigned", request);
    if (ping !== null) return ping;
    const verified = verify(type, request, { auth, secrets: secretsOf(sourceId, source, nowMs) }, nowMs);
    if (!verified.ok) {
      deps.counts.rejected({ account, id: sourceId }, verified.reason, webhook.ip, headers["user-agent"] ?? "");
      return problem("invalid-signature", verified.detail, { extra: { reason: verified.reason } });
    }
    webhook.onVerified?.();
    const challenge = answerDirectly(type, "signed", request);
    if (challenge !== null) return challenge;

    const { deliveryKey, eventType } = await identity(
      account,
      { type, dedupe, headers, rawHeaders, body, url },
      request,
    );
    const { name, policy_id: policyId, endpoint_id: endpointId } = source.settings;
    const decideAs = (key: string) =>
      decideOnce({
        source,
        account,
        policyId,
        endpointId,
        origin: { kind: "source", id: sourceId, name, type },
        eventId: eventIdOf(account, sourceId, key),
        deliveryKey: key,
        eventType,
        body,
        contentType: typeOf(headers["content-type"]),
        contentEncoding: codings(headers["content-encoding"]),
        json: request.json,
        isStrict: false,
        headers,
        shownHeaders: () => redactHeaders(headers, auth),
        trace: webhook.trace,
        receivedAt: webhook.receivedAt,
        authenticatedAt: nowMs,
        asked: null,
      });
    const it = { account, sourceId, body };
    if (deliveryKey !== null) return decideAs(withoutBodyDigest(deliveryKey, it, deps.digestKey));
    if (isByBody(type, dedupe)) return withKeyOfBody(it, nowMs, decideAs);
    return decideAs(randomId("", deps.randomness));
  };
};

/** Tokens with commas between them (RFC 9110, section 8.4): anything else tells nobody how to decode a body. */
const CODINGS = /^[\w!#$%&'*+.^`|~-]+(?:[\t ]*,[\t ]*[\w!#$%&'*+.^`|~-]+)*$/;
const codings = (header: string | undefined): string =>
  header !== undefined && header.length <= CODINGS_MAX && CODINGS.test(header) ? header : "";

/**
 * Characters. Both headers stand in each record of the event, refused or not, beside what is counted for its body. Senders
 * write below 200.
 */
const TYPE_MAX = 1_024;
const CODINGS_MAX = 255;
/** A longer one is as good as none. */
const typeOf = (header = ""): string => (header.length <= TYPE_MAX ? header : "");

/** Delivery ids that came lately; a repeat of an older one is found when its append conflicts. */
const RECENT_MAX = 50_000;

const recentIds = (): { has(id: string): boolean; add(id: string): void } => {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    add(id) {
      ids.add(id);
      if (ids.size <= RECENT_MAX) return;
      const [oldest] = ids;
      if (oldest !== undefined) ids.delete(oldest);
    },
  };
};
