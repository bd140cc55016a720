import { heldFor } from "../../domain/approval/terms.ts";
import { type Delivery, type DeliveryCommand, delivery } from "../../domain/delivery/decider.ts";
import type { Request } from "../../domain/delivery/events.ts";
import { isClaimed } from "../../domain/delivery/hold.ts";
import type { EventLog, Position, Randomness } from "../../domain/ports.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";
import { approvalIdOf, sourceDigest } from "../approvals.ts";
import { type Envelope, toEvents } from "../envelope.ts";
import type { Deliverer } from "../loops/deliverer.ts";
import { contentEncodingField, type KeptPayload, type Payloads } from "../payloads.ts";
import { appendKnown, type Known, readOn } from "../run-command.ts";
import type { Identified } from "./identified.ts";
import { type JudgeDeps, type Judged, judgement } from "./judge.ts";
import type { TakenPlace } from "./ledger-gates.ts";

export type ClaimDeps = JudgeDeps & {
  readonly log: EventLog;
  readonly randomness: Randomness;
  readonly payloads: Payloads;
  /** Handed what was admitted, so that nothing has to be read again. */
  readonly deliver: Pick<Deliverer, "offer">;
};

export type Claimed =
  /** Admitted, or held for people. */
  | { readonly outcome: "claimed"; readonly known: Known<Delivery>; readonly position: Position }
  | { readonly outcome: "refused"; readonly request: Request; readonly judged: Judged }
  /** Another request with its id was admitted, or held, before; or this replay has decided it already. */
  | { readonly outcome: "taken"; readonly known: Known<Delivery> };

/** What is known of the event's stream when it is asked for. Rejects with the log's errors. */
export type Claim = (it: Identified, from: Known<Delivery>) => Promise<Claimed>;

export const UNKNOWN: Known<Delivery> = { state: delivery.initial, revision: null };

/** Each lost claim means that the event was written to meanwhile: so often it is not by chance. */
const CLAIMS_MAX = 8;

const iso = (ms: number): string => new Date(ms).toISOString();

/** The first failure, once both have ended: nothing is left running behind an error. */
const both = async <A, B>(first: Promise<A>, second: Promise<B>): Promise<readonly [A, B]> => {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === "rejected") throw a.reason;
  if (b.status === "rejected") throw b.reason;
  return [a.value, b.value];
};

const commandFor = (request: Request, { account }: Identified, { approval }: Judged): DeliveryCommand => {
  const { verdict, event_id, at } = request;
  if (verdict.decision === "allow") return { type: "Admit", request };
  if (verdict.decision === "deny") return { type: "Block", request };
  // Only a rule of the policy holds.
  if (approval === null) throw new Error(`${event_id} is held without a rule that says so`);
  const { replay } = request;
  const about = {
    approvalId: approvalIdOf(account, event_id, replay?.id),
    digest: request.action?.digest ?? sourceDigest(account, request),
    gates: verdict.gates,
    atMs: Date.parse(at),
    ...(replay?.by.kind === "member" ? { member: replay.by.id } : {}),
  };
  return { type: "Hold", request, approval: heldFor(approval, about) };
};

/** Nothing is left to decide: it is claimed, or this replay has decided it already. */
const isDecided = ({ replay }: Identified, state: Delivery): boolean =>
  isClaimed(state) || (replay !== undefined && state.phase === "undecided" && state.last?.replay?.id === replay.id);

/** Makes an event of a request, or refuses it: the one path of webhooks and of agents' requests. */
export const claiming = (deps: ClaimDeps): Claim => {
  const { log, clock, ledgers } = deps;
  const judge = judgement(deps);

  const envelopeOf = ({ account, origin, trace, replay }: Identified): Envelope => ({
    commandId: randomId("adm_", deps.randomness),
    account,
    actor: replay?.by ?? { kind: origin.kind, id: origin.id },
    trace,
    at: iso(clock.now()),
  });

  /** This request's part in places taken for what turns out to be a repeat: whoever admitted the event holds its own. */
  const giveBack = async (it: Identified, reservations: readonly TakenPlace[]): Promise<void> => {
    for (const { stream, account } of reservations) await ledgers.release(stream, account, it.eventId, it.trace);
  };

  /** Places that it holds until it has ended: those of an agent, and whatever waits for people. */
  const lastingOf = (it: Identified, { verdict, reservations }: Judged): readonly TakenPlace[] =>
    verdict.decision === "hold" || (verdict.decision === "allow" && it.asked !== null)
      ? reservations.filter(({ lasts }) => lasts)
      : [];

  const requestOf = (it: Identified, kept: KeptPayload, judged: Judged): Request => {
    const lasting = lastingOf(it, judged);
    return {
      event_id: it.eventId,
      origin: it.origin,
      delivery_key: it.deliveryKey,
      type: it.eventType,
      payload: {
        revision: kept.revision,
        content_type: it.contentType,
        ...contentEncodingField(it.contentEncoding),
        size: it.body.length,
        sha256: kept.sha256,
      },
      endpoint_id: it.endpointId,
      verdict: judged.verdict,
      cost: judged.cost,
      ...(it.asked === null ? {} : { action: it.asked.action, run: it.asked.run }),
      ...(lasting.length === 0 ? {} : { ledgers: lasting.map(({ stream }) => stream) }),
      ...(it.replay === undefined ? {} : { replay: it.replay }),
      received_at: iso(it.receivedAt),
      authenticated_at: iso(it.authenticatedAt),
      at: iso(clock.now()),
    };
  };

  /** What a claimed request has spent by that. */
  const settle = (it: Identified, { reservations, cost }: Judged, { ledgers: lasting = [] }: Request): void => {
    for (const { stream } of reservations) {
      if (!lasting.includes(stream)) ledgers.settle(stream, it.account, it.eventId, cost ?? 0, it.trace);
    }
  };

  const offer = (it: Identified, known: Known<Delivery>): void => {
    if (it.endpointId === null || known.state.phase !== "admitted") return;
    const { eventId, account, endpointId, trace, body, contentType, contentEncoding } = it;
    deps.deliver.offer({ eventId, account, endpointId, trace, known, body, contentType, contentEncoding });
  };

  /** Asks the gates and writes the verdict down under the revision that was known before they were asked. Whatever came in
   * between (another winner, or the fence of `fate`) makes the append conflict: a verdict is never used twice. */
  const claim = async (it: Identified, from: Known<Delivery>, attempt: number): Promise<Claimed> => {
    if (isDecided(it, from.state)) return { outcome: "taken", known: from };
    if (attempt > CLAIMS_MAX) throw new LogUnavailable(`${it.eventId} is written by too many at once`);
    const { eventId, body, contentType, contentEncoding } = it;
    const stream = `delivery-${eventId}`;
    const envelope = envelopeOf(it);
    const incoming = { body, contentType, contentEncoding, headers: it.shownHeaders() };
    const payloadEnvelope = { ...envelope, commandId: `${envelope.commandId}/payload` };
    // Kept while the gates are asked: the append below needs both.
    const [first, judged] = await both(deps.payloads.keepFirst(eventId, incoming, payloadEnvelope), judge(it));
    const known = first === null ? await readOn(log, delivery, stream, from) : from;
    if (isDecided(it, known.state)) {
      await giveBack(it, judged.reservations);
      return { outcome: "taken", known };
    }
    // What came in between may be the fence of `fate`: the places that the gates took are then given back already.
    if (known.revision !== from.revision) return claim(it, known, attempt + 1);
    // Nothing is decided: what came before was blocked, or died on its way here.
    const kept = first ?? (await deps.payloads.keepAgain(eventId, incoming, payloadEnvelope));
    const request = requestOf(it, kept, judged);
    const decision = delivery.decide(commandFor(request, it, judged), known.state);
    if (!decision.ok) return { outcome: "taken", known };
    const appended = await appendKnown(log, stream, known.revision ?? "absent", toEvents(decision.events, envelope));
    if (appended.outcome === "conflict") {
      const lost = await readOn(log, delivery, stream, known);
      // The winner may have asked other ledgers: those of the policy as it was, or of another day.
      if (isDecided(it, lost.state)) await giveBack(it, judged.reservations);
      return claim(it, lost, attempt + 1);
    }
    if (judged.verdict.decision === "deny") return { outcome: "refused", request, judged };

    settle(it, judged, request);
    const claimed = { state: decision.events.reduce(delivery.evolve, known.state), revision: appended.revision };
    offer(it, claimed);
    return { outcome: "claimed", known: claimed, position: appended.position };
  };

  return (it, from) => claim(it, from, 1);
};
