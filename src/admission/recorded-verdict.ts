import { iso, monthOf } from "../../domain/calendar.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import type { Ledgers } from "../ledgers/ledgers.ts";
import type { DecisionReport } from "../observability/observer.ts";
import type { Envelope } from "../streams/envelope.ts";
import { type KeptPayload, payloadRef } from "../streams/payload-ref.ts";
import type { Incoming } from "../streams/payloads.ts";
import type { ClaimSubject, RecordedVerdict } from "./claim-subject.ts";
import type { Judgement } from "./judge.ts";
import type { TakenPlace } from "./limit-results.ts";

/** An agent's request and one that waits for people hold their places until they have ended. */
const lastingOf = (endsLater: boolean, { verdict, reservations }: Judgement): readonly TakenPlace[] =>
  verdict.decision === "hold" || (verdict.decision === "allow" && endsLater)
    ? reservations.filter(({ lasts }) => lasts)
    : [];

/**
 * If the quota counted a request in one month and its decision is recorded in the next, the decision gets the time of
 * the count, so that the bill and the quota of a month agree.
 */
const decidedAt = (nowMs: number, { countedAt }: Judgement): string => {
  const at = iso(nowMs);
  const isSameMonth = countedAt === null || countedAt === nowMs || at.startsWith(monthOf(countedAt));
  return isSameMonth ? at : iso(countedAt);
};

type Verdict = {
  readonly it: Pick<ClaimSubject, "endsLater" | "receivedAt">;
  readonly incoming: Pick<Incoming, "body" | "contentType" | "contentEncoding">;
  readonly kept: KeptPayload;
  readonly judged: Judgement;
};

export const recordedVerdict = ({ it, incoming, kept, judged }: Verdict, nowMs: number): RecordedVerdict => {
  const lasting = lastingOf(it.endsLater, judged);
  return {
    payload: payloadRef(kept, incoming),
    verdict: judged.verdict,
    cost: judged.cost,
    ledgers: lasting.length === 0 ? undefined : lasting.map(({ stream }) => stream),
    received_at: iso(it.receivedAt),
    at: decidedAt(nowMs, judged),
  };
};

/** Settles the places that need not wait for the end of what was claimed. */
export const settle = (
  ledgers: Pick<Ledgers, "settle">,
  judged: Judgement,
  { ledgers: lasting = [] }: RecordedVerdict,
): void => {
  for (const reservation of judged.reservations) {
    if (!lasting.includes(reservation.stream)) ledgers.settle(reservation, judged.cost ?? 0);
  }
};

export const claimCommand = (randomness: Randomness): string => randomId("adm_", randomness);

export const claimEnvelope = (
  { account, origin, trace, replay, sample }: Pick<ClaimSubject, "account" | "origin" | "trace" | "replay" | "sample">,
  commandId: string,
  at: string,
): Envelope => {
  const actor = replay?.by ?? sample?.by ?? { kind: origin.kind, id: origin.id };
  return { commandId, account, actor, trace, at };
};

type Report = {
  readonly it: Pick<ClaimSubject, "id" | "origin" | "trace" | "receivedAt" | "askedAt">;
  readonly outcome: DecisionReport["outcome"];
  readonly judged?: Judgement | undefined;
};

export const decisionReport = ({ it, outcome, judged }: Report, nowMs: number): DecisionReport => {
  const { id, origin, trace, receivedAt, askedAt = receivedAt } = it;
  return {
    trace_id: trace.trace_id,
    id,
    origin: origin.kind,
    outcome,
    gate: judged?.deniedBy?.gate ?? null,
    code: judged?.deniedBy?.code ?? null,
    ms: Math.max(0, nowMs - askedAt),
  };
};
