import { type Delivery, delivery } from "../../domain/delivery/decider.ts";
import type { Request } from "../../domain/delivery/events.ts";
import type { GateResult, Verdict } from "../../domain/gate/verdict.ts";
import type { EventLog, Randomness } from "../../domain/ports.ts";
import { activeSecrets, type PresentSource } from "../../domain/source/decider.ts";
import { derivedId, randomId } from "../../infra/crypto/ids.ts";
import type { SecretBox } from "../../infra/crypto/secret-box.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";
import { type Envelope, type Trace, toEvents } from "../envelope.ts";
import type { Deliverer } from "../loops/deliverer.ts";
import { contentEncodingField, type KeptPayload, type Payloads } from "../payloads.ts";
import { type Problem, type ProblemCode, problem } from "../problems.ts";
import { answerDirectly, identify } from "../providers/identify.ts";
import { redactHeaders } from "../providers/redact.ts";
import { webhookRequest } from "../providers/request.ts";
import { verify } from "../providers/verify.ts";
import type { Answer } from "../routes/route.ts";
import { appendKnown, type Known, readOn } from "../run-command.ts";
import type { Accepting } from "./accepting.ts";
import type { Counts } from "./counts.ts";
import { type JudgeDeps, type Judged, judgement } from "./judge.ts";
import { COST_UNKNOWN } from "./ledger-gates.ts";
import type { Reservation } from "./ledgers.ts";
import type { Identified, Webhook } from "./webhook.ts";

export type AdmissionDeps = JudgeDeps & {
  readonly accepting: Accepting;
  readonly log: EventLog;
  readonly randomness: Randomness;
  readonly box: Pick<SecretBox, "open">;
  readonly payloads: Payloads;
  readonly counts: Counts;
  readonly publicUrl: () => string;
  /** Handed what was admitted, so that nothing has to be read again. */
  readonly deliver: Pick<Deliverer, "offer">;
};

/** An answer or a refusal, and never an exception but for the log's own. */
export type Admission = (webhook: Webhook) => Promise<Answer | Problem>;

const iso = (ms: number): string => new Date(ms).toISOString();
const initial: Known<Delivery> = { state: delivery.initial, revision: null };
/** Each lost claim means that the event was written to meanwhile: so often it is not by chance. */
const CLAIMS_MAX = 8;

const PROBLEM_OF: Readonly<Record<GateResult["gate"], ProblemCode>> = {
  scope: "forbidden",
  schema: "gate-schema",
  require_fields: "gate-require-fields",
  content: "gate-content",
  rate: "gate-rate",
  loop: "gate-loop",
  budget: "gate-budget",
  quota: "gate-quota",
  approval: "forbidden",
};

/** How far an admitted event has got, in the words of the API. */
const statusOf = (state: Delivery): string => {
  if (state.phase !== "admitted") return "blocked";
  if (state.end !== null) return state.end;
  if (state.lease !== null) return "delivering";
  return state.attempts === 0 ? "queued" : "retrying";
};

const blocked = (request: Request, { refusedBy: gate, retryAfterS }: Judged): Problem => {
  const { verdict, event_id } = request;
  const code = gate === undefined ? "gate-content" : PROBLEM_OF[gate.gate];
  return problem(code, gate?.detail ?? "Refused by the policy", {
    // A verdict is plain JSON by its type.
    extra: { event_id, verdict: verdict as never },
    ...(retryAfterS === null ? {} : { retryAfterS }),
    // The gate asks for another event, not for patience.
    ...(gate?.code === COST_UNKNOWN ? { retryable: false } : {}),
  });
};

export const admission = (deps: AdmissionDeps): Admission => {
  const { log, clock } = deps;
  const judge = judgement(deps);
  /** Requests with the same delivery id at once: the first decides, the others answer with what it came to. */
  const flights = new Map<string, { readonly body: Buffer; readonly landed: Promise<Answer | Problem> }>();
  const seen = recentIds();

  const envelopeOf = ({ webhook, source }: Identified): Envelope => ({
    commandId: randomId("adm_", deps.randomness),
    account: source.account,
    actor: { kind: "source", id: webhook.sourceId },
    trace: webhook.trace,
    at: iso(clock.now()),
  });

  const secretsOf = (sourceId: string, source: PresentSource, nowMs: number): string[] =>
    activeSecrets(source, iso(nowMs)).map((sealed) =>
      deps.box.open(sealed, { account: source.account, stream: `source-${sourceId}`, field: "secret" }),
    );

  const duplicate = async (it: Identified, known: Known<Delivery>): Promise<Answer | Problem> => {
    const { state } = known;
    const { eventId, source, webhook } = it;
    const event = { account: source.account, id: eventId };
    const first = state.phase === "admitted" ? state.request.payload : null;
    const kept = first === null ? null : await deps.payloads.read(eventId, first.revision);
    // After an erasure nothing is left to compare with.
    if (first !== null && kept !== null && !kept.body.equals(webhook.body)) return reused(event, webhook.trace);
    deps.counts.duplicate(event, webhook.trace);
    return { status: 200, body: { event_id: eventId, status: statusOf(state), duplicate: true } };
  };

  const reused = (event: { account: string; id: string }, trace: Trace): Problem => {
    deps.counts.reused(event, trace);
    const detail =
      "The body differs from the one that came first with this delivery id: send a new event under a new id.";
    return problem("delivery-id-reused", detail, { extra: { event_id: event.id } });
  };

  /** This request's part in places taken for what turns out to be a repeat: whoever admitted the event holds its own. */
  const giveBack = async (it: Identified, reservations: readonly Reservation[]): Promise<void> => {
    for (const { stream, account } of reservations) {
      await deps.ledgers.release(stream, account, it.eventId, it.webhook.trace);
    }
  };

  /** Asks the gates and writes the verdict down under the revision that was known before they were asked. Whatever came in
   * between (another winner, or the fence of `fate`) makes the append conflict: a verdict is never used twice. */
  const claim = async (it: Identified, from: Known<Delivery>, attempt = 1): Promise<Answer | Problem> => {
    if (from.state.phase === "admitted") return duplicate(it, from);
    const { webhook, source, eventId } = it;
    const stream = `delivery-${eventId}`;
    const envelope = envelopeOf(it);
    const incoming = {
      body: webhook.body,
      contentType: it.contentType,
      contentEncoding: it.contentEncoding,
      headers: redactHeaders(webhook.headers, source.auth),
    };
    const payloadEnvelope = { ...envelope, commandId: `${envelope.commandId}/payload` };
    // Kept while the gates are asked: the claim below needs both.
    const keeping = deps.payloads.keepFirst(eventId, incoming, payloadEnvelope);
    const [first, judged] = await settled(keeping, judge(it));
    const known = first === null ? await readOn(log, delivery, stream, from) : from;
    if (known.state.phase === "admitted") {
      await giveBack(it, judged.reservations);
      return duplicate(it, known);
    }
    // What came in between may be the fence of `fate`: the places that the gates took are then given back already.
    if (known.revision !== from.revision) return claimAgain(it, known, attempt);
    // Nothing is admitted: what came before was blocked, or died on its way here.
    const kept = first ?? (await deps.payloads.keepAgain(eventId, incoming, payloadEnvelope));
    const request = requestOf(it, kept, judged.verdict, judged.cost);
    const admits = judged.verdict.decision === "allow";
    const decision = delivery.decide({ type: admits ? "Admit" : "Block", request }, known.state);
    if (!decision.ok) return duplicate(it, known);
    const appended = await appendKnown(log, stream, known.revision ?? "absent", toEvents(decision.events, envelope));
    if (appended.outcome === "conflict") {
      const lost = await readOn(log, delivery, stream, known);
      // The winner may have asked other ledgers: those of the policy as it was, or of another day.
      if (lost.state.phase === "admitted") await giveBack(it, judged.reservations);
      return claimAgain(it, lost, attempt);
    }
    if (!admits) return blocked(request, judged);

    for (const { stream } of judged.reservations) {
      deps.ledgers.settle(stream, source.account, eventId, judged.cost ?? 0, webhook.trace);
    }
    const endpointId = source.settings.endpoint_id;
    if (endpointId !== null) {
      const { body, trace } = webhook;
      const { contentType, contentEncoding } = it;
      const state = decision.events.reduce(delivery.evolve, known.state);
      const admitted = { state, revision: appended.revision };
      const content = { body, contentType, contentEncoding };
      deps.deliver.offer({ eventId, account: source.account, endpointId, trace, known: admitted, ...content });
    }
    return {
      status: 202,
      body: { event_id: eventId, status: endpointId === null ? "recorded" : "queued" },
      position: appended.position,
    };
  };

  const requestOf = (it: Identified, kept: KeptPayload, verdict: Verdict, cost: number | null): Request => ({
    event_id: it.eventId,
    origin: it.origin,
    delivery_key: it.deliveryKey,
    type: it.eventType,
    payload: {
      revision: kept.revision,
      content_type: it.contentType,
      ...contentEncodingField(it.contentEncoding),
      size: it.webhook.body.length,
      sha256: kept.sha256,
    },
    endpoint_id: it.source.settings.endpoint_id,
    verdict,
    cost,
    received_at: iso(it.webhook.receivedAt),
    authenticated_at: iso(it.authenticatedAt),
    at: iso(clock.now()),
  });

  const claimAgain = (it: Identified, known: Known<Delivery>, attempt: number): Promise<Answer | Problem> => {
    if (attempt >= CLAIMS_MAX) throw new LogUnavailable(`${it.eventId} is written by too many at once`);
    return claim(it, known, attempt + 1);
  };

  /** Most webhooks are new, so nothing is read for one that is not known to have come: its appends conflict if it has. */
  const decideFirst = async (it: Identified): Promise<Answer | Problem> => {
    const stream = `delivery-${it.eventId}`;
    const known = seen.has(it.eventId) ? await readOn(log, delivery, stream, initial) : initial;
    seen.add(it.eventId);
    return claim(it, known);
  };

  const decideOnce = async (it: Identified): Promise<Answer | Problem> => {
    const flight = flights.get(it.eventId);
    if (flight !== undefined) return follow(it, flight);
    const landed = decideFirst(it);
    flights.set(it.eventId, { body: it.webhook.body, landed });
    try {
      return await landed;
    } finally {
      flights.delete(it.eventId);
    }
  };

  const follow = async (
    it: Identified,
    flight: { readonly body: Buffer; readonly landed: Promise<Answer | Problem> },
  ): Promise<Answer | Problem> => {
    const event = { account: it.source.account, id: it.eventId };
    const outcome = await flight.landed;
    if (!flight.body.equals(it.webhook.body)) return reused(event, it.webhook.trace);
    if ("problem" in outcome) return outcome;
    deps.counts.duplicate(event, it.webhook.trace);
    // The answer of an admission or of a duplicate is this object.
    return { status: 200, body: { ...(outcome.body as object), duplicate: true } };
  };

  return async (webhook) => {
    const { sourceId, headers, rawHeaders, body } = webhook;
    const source = await deps.accepting(webhook.provider, sourceId);
    if ("problem" in source) return source;
    const nowMs = clock.now();
    const { type, auth, dedupe, account } = source;
    const url = `${deps.publicUrl()}/v1/webhooks/${type}/${sourceId}`;
    const request = webhookRequest({ headers, rawHeaders, body, url }, parse);
    const ping = answerDirectly(type, "unsigned", request);
    if (ping !== null) return ping;
    const verified = verify(type, request, { auth, secrets: secretsOf(sourceId, source, nowMs) }, nowMs);
    if (!verified.ok) {
      deps.counts.rejected({ account, id: sourceId }, verified.reason, webhook.ip, headers["user-agent"] ?? "");
      return problem("invalid-signature", verified.detail, { extra: { reason: verified.reason } });
    }
    const challenge = answerDirectly(type, "signed", request);
    if (challenge !== null) return challenge;

    const { deliveryKey, eventType } = identify(type, request, dedupe);
    const key = deliveryKey ?? randomId("", deps.randomness);
    return decideOnce({
      webhook,
      source,
      origin: { kind: "source", id: sourceId, name: source.settings.name, type },
      eventId: derivedId("evt_", account, sourceId, key),
      deliveryKey: key,
      eventType,
      contentType: headers["content-type"] ?? "",
      contentEncoding: codings(headers["content-encoding"]),
      json: request.json,
      authenticatedAt: nowMs,
    });
  };
};

/** Tokens with commas between them (RFC 9110, section 8.4): anything else tells nobody how to decode a body. */
const CODINGS = /^[\w!#$%&'*+.^`|~-]+(?:[\t ]*,[\t ]*[\w!#$%&'*+.^`|~-]+)*$/;
const codings = (header: string | undefined): string => (header !== undefined && CODINGS.test(header) ? header : "");

const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
};

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

/** Both, waiting for the second even when the first fails: neither is left running behind an answer. */
const settled = async <A, B>(first: Promise<A>, second: Promise<B>): Promise<readonly [A, B]> => {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === "rejected") throw a.reason;
  if (b.status === "rejected") throw b.reason;
  return [a.value, b.value];
};
