import { heldFor } from "../../domain/approval/terms.ts";
import { monthOf, untilMidnight } from "../../domain/calendar.ts";
import type { Decider } from "../../domain/decider.ts";
import { type Erased, isErasedAt } from "../../domain/delivery/erased.ts";
import type { HeldFor, Origin, PayloadRef, Replay } from "../../domain/delivery/events.ts";
import { denied, type GateResult } from "../../domain/gate/verdict.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";
import type { BoundRequest } from "../approvals/approval-binding.ts";
import { approvalRequests, isHold } from "../approvals/approval-requests.ts";
import { approvalIdOf } from "../approvals/approvals.ts";
import { requestersOf } from "../approvals/requesters.ts";
import { eraseLeft } from "../erasure/erasures.ts";
import type { ByteAllowances, TakenBytes } from "../ledgers/byte-allowances.ts";
import { type HeldPlacesDeps, heldPlaces } from "../ledgers/held-places.ts";
import type { Ledgers } from "../ledgers/ledgers.ts";
import type { Decided as DecisionTold } from "../observing/observer.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { type Envelope, type Fact, type Trace, toEvents } from "../streams/envelope.ts";
import {
  bytesOf,
  contentEncodingField,
  headOf,
  type Incoming,
  type KeptPayload,
  type Payloads,
} from "../streams/payloads.ts";
import { limitReached } from "../streams/problems.ts";
import { appendKnown, foldStream, type StreamState } from "../streams/run-command.ts";
import type { Judged, Places } from "./judge.ts";
import type { TakenPlace } from "./ledger-gates.ts";

export type ClaimOnceDeps = {
  readonly log: EventLog;
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly ledgers: Ledgers;
  readonly payloads: Payloads;
  readonly allowances: ByteAllowances;
  readonly accountOf: HeldPlacesDeps["accountOf"];
  /** Told of each refused request that leaves no record of its own; it counts it. */
  readonly onOnlyCounted?: (
    request: { readonly account: string; readonly origin: Origin; readonly trace: Trace },
    gate: GateResult | undefined,
  ) => void;
  /** Told of each request that has been decided on, once. */
  readonly onDecided?: (decision: DecisionTold) => void;
};

type Deciding<Q> =
  | { readonly type: "Admit" | "Block"; readonly request: Q }
  | { readonly type: "Hold"; readonly request: Q; readonly approval: HeldFor };

/** What a verdict came to, as it is written down. */
export type Decided = {
  readonly payload: PayloadRef;
  readonly verdict: Judged["verdict"];
  readonly cost: number | null;
  /** The ledgers in which it holds places until it has ended; missing for none. */
  readonly ledgers?: readonly string[];
  readonly received_at: string;
  readonly at: string;
};

/** Bytes that are counted for the records of one request, beside its payload: its decision, attempts and places. */
export const RECORDS_BYTES = 2_048;

/** What is asked of a request before its verdict can be written down. */
type Judgeable<J> = Named & Pick<Claimable<never, never, never, J & Judged>, "judge" | "copies" | "records">;

type JudgedBytes<J> = { readonly judged: J; readonly taken: TakenBytes | null };

/**
 * `form`: what is stored, whole or its head. `first`: null where the event's stream has a payload from an earlier request.
 * `taken`: what is counted for storing it now. It is given back where that turns out not to be needed, and `reusable` bytes
 * of it where an earlier request has stored the same payload.
 */
type JudgedAndKept<J> = JudgedBytes<J> & {
  readonly form: Incoming;
  readonly first: KeptPayload | null;
  readonly reusable: number;
};

/** A refusal for which nothing more is stored today. */
type JudgedAlone<J> = { readonly judged: J; readonly form: null };

type Named = {
  /** Names its payload, and its places in ledgers. */
  readonly id: string;
  readonly account: string;
  readonly origin: Origin;
  readonly trace: Trace;
  /** ms since 1970. */
  readonly receivedAt: number;
  /** The same of when somebody had it decided once more; missing for what was sent. */
  readonly askedAt?: number;
  /** Admitted it keeps its places until it has ended, which says what it has cost; else it has spent them by being admitted. */
  readonly endsLater: boolean;
  /** Asked for by somebody who has it decided once more; missing for what was sent. */
  readonly replay?: Replay;
  /** With it: where the log has what it was sent with, as that is not kept once more. */
  readonly kept?: KeptPayload;
};

/** What is decided once under its name: an event or a bundle. `Q` is the request as it is written down. */
export type Claimable<S, E extends Fact, Q, J extends Judged> = Named & {
  readonly stream: string;
  readonly decider: Decider<S, Deciding<Q>, E, unknown>;
  /** Decided for good: it is never decided a second time, whoever sends it again. */
  readonly isClaimed: (state: S) => boolean;
  /** What of its payloads is gone, or about to be, so that no verdict may refer to it. */
  readonly erasedUpTo: (state: S) => Erased;
  readonly incoming: () => Incoming;
  /** How often its bytes are stored once it is admitted; left out: once. */
  readonly copies?: number;
  /** How many requests' records it leaves; left out: one's. */
  readonly records?: number;
  readonly judge: (places?: Places) => Promise<J>;
  readonly requestOf: (decided: Decided, judged: J) => Q;
  /** Of a request that people have to approve: what the approval is bound to, and its digest. */
  readonly bind: (request: Q) => Promise<BoundRequest<Q>>;
};

export type ClaimedOnce<S, J> =
  /** Admitted, or held for people. `position`: of the last record, which for a hold is that of its approval. */
  | { readonly outcome: "claimed"; readonly known: StreamState<S>; readonly position: Position }
  | { readonly outcome: "refused"; readonly judged: J }
  /**
   * Another request with its id was admitted, or held, before; or this replay has decided it already; or what it was to be
   * decided on once more is erased.
   */
  | { readonly outcome: "taken"; readonly known: StreamState<S> };

/** Each lost claim means that the stream was written to meanwhile: so often it is not by chance. */
const CLAIMS_MAX = 8;

const iso = (ms: number): string => new Date(ms).toISOString();

/** The first failure, once both have ended: nothing is left running behind an error. */
const both = async <A, B>(first: Promise<A>, second: Promise<B>): Promise<readonly [A, B]> => {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === "rejected") throw a.reason;
  if (b.status === "rejected") throw b.reason;
  return [a.value, b.value];
};

/** Places that it holds until it has ended: those of an agent, and whatever waits for people. */
const lastingOf = (endsLater: boolean, { verdict, reservations }: Judged): readonly TakenPlace[] =>
  verdict.decision === "hold" || (verdict.decision === "allow" && endsLater)
    ? reservations.filter(({ lasts }) => lasts)
    : [];

const OVER_BYTES = denied(
  "bytes",
  "bytes-reached",
  "The account has stored as many bytes today (UTC) as its plan includes (stored_bytes_day).",
);

/** The verdict of a request that all gates of policies let pass, and a limit of the account refuses. */
const refusedLate = <J extends Judged>(judged: J, gate: GateResult, retryAfterS: number | null): J => {
  const { observed: _, ...verdict } = judged.verdict;
  const gates = [...verdict.gates.filter((it) => it.gate !== gate.gate), gate];
  return {
    ...judged,
    verdict: { ...verdict, decision: "deny", gates },
    refusedBy: gate,
    reservations: [],
    retryAfterS,
  };
};

/**
 * When it was decided. What is written down in the month behind the one whose plan and quota it was counted by was decided
 * right before its end: else the bill of the one would have an event that only the quota of the other knows.
 */
const decidedAt = (now: number, { countedAt }: Judged): string => {
  const at = iso(now);
  return countedAt === null || at.startsWith(monthOf(countedAt)) ? at : iso(countedAt);
};

const commandFor = async <Q>(
  { id, account, replay }: Named,
  asked: Q,
  bind: (request: Q) => Promise<BoundRequest<Q>>,
  { approvals, verdict }: Judged,
  { at, requesters }: { readonly at: string; readonly requesters: readonly string[] },
): Promise<Deciding<Q>> => {
  if (verdict.decision === "allow") return { type: "Admit", request: asked };
  if (verdict.decision === "deny") return { type: "Block", request: asked };
  const { request, digest } = await bind(asked);
  // Only a rule of a policy holds.
  if (approvals.length === 0) throw new Error(`${id} is held without a rule that says so`);
  const about = {
    approvalId: approvalIdOf(account, id, replay?.id),
    digest,
    gates: verdict.gates,
    atMs: Date.parse(at),
    ...(replay?.by.kind === "member" ? { member: replay.by.id } : {}),
    requesters,
  };
  return { type: "Hold", request, approval: heldFor(approvals, about) };
};

/** Takes whatever can be asked for to its one verdict, or refuses it. `from`: what is known of its stream. Rejects with the log's errors. */
export const claimingOnce = (deps: ClaimOnceDeps) => {
  const { log, clock, ledgers, allowances } = deps;
  const held = heldPlaces(deps);
  const approvals = approvalRequests(deps);

  const envelopeOf = ({ account, origin, trace, replay }: Named): Envelope => ({
    commandId: randomId("adm_", deps.randomness),
    account,
    actor: replay?.by ?? { kind: origin.kind, id: origin.id },
    trace,
    at: iso(clock.now()),
  });

  /** Gives back what was reserved for a verdict that is not used. Reservations of other requests for the event stay. */
  const giveBack = async ({ trace }: Named, { reservations, heldPlace }: Judged): Promise<void> => {
    for (const reservation of reservations) await ledgers.release(reservation, trace);
    if (heldPlace !== undefined) await ledgers.release(heldPlace, trace);
  };

  const decided = (it: Named, incoming: Incoming, kept: KeptPayload, judged: Judged): Decided => {
    const lasting = lastingOf(it.endsLater, judged);
    const { revision, sha256, head } = kept;
    const { body, contentType, contentEncoding } = incoming;
    return {
      payload: {
        revision,
        content_type: contentType,
        ...contentEncodingField(contentEncoding),
        size: body.length,
        sha256,
        ...(head === undefined ? {} : { head }),
      },
      verdict: judged.verdict,
      cost: judged.cost,
      ...(lasting.length === 0 ? {} : { ledgers: lasting.map(({ stream }) => stream) }),
      received_at: iso(it.receivedAt),
      at: decidedAt(clock.now(), judged),
    };
  };

  const tell = (
    { id, origin, trace, receivedAt, askedAt = receivedAt }: Named,
    outcome: DecisionTold["outcome"],
    judged?: Judged,
  ): void =>
    deps.onDecided?.({
      trace_id: trace.trace_id,
      id,
      origin: origin.kind,
      outcome,
      gate: judged?.refusedBy?.gate ?? null,
      code: judged?.refusedBy?.code ?? null,
      ms: Math.max(0, clock.now() - askedAt),
    });

  /** What a claimed request has spent by that. */
  const settle = ({ trace }: Named, judged: Judged, { ledgers: lasting = [] }: Decided): void => {
    for (const reservation of judged.reservations) {
      if (!lasting.includes(reservation.stream)) ledgers.settle(reservation, judged.cost ?? 0, trace);
    }
  };

  const overHeld = <J extends Judged>(judged: J, max: number): J =>
    refusedLate(judged, denied("approval", "limit-reached", limitReached("held_approvals", max).detail), null);

  /** The gates' verdict, which is a denial if a further request of the account may not be held. */
  const judgeHeld = async <J extends Judged>(it: Judgeable<J>): Promise<J> => {
    const judged = await it.judge();
    if (judged.verdict.decision !== "hold") return judged;
    const place = await held.take(it.account, it.id, it.trace);
    if (!("max" in place)) return { ...judged, heldPlace: place };
    await giveBack(it, judged);
    return overHeld(judged, place.max);
  };

  /**
   * The same for an account whose refusals are only counted: a refused request takes no place in any ledger, because taking
   * and giving back are records as well.
   */
  const judgeSparingly = async <J extends Judged>(it: Judgeable<J>): Promise<J> => {
    const asked = await it.judge("ask");
    if (asked.verdict.decision === "deny") return asked;
    if (asked.verdict.decision === "allow") return judgeHeld(it);
    const place = await held.take(it.account, it.id, it.trace);
    if ("max" in place) return overHeld(asked, place.max);
    const judged = await it.judge();
    if (judged.verdict.decision === "hold") return { ...judged, heldPlace: place };
    await ledgers.release(place, it.trace);
    return judged;
  };

  /** The gates' verdict, which is a denial if the account has stored as many bytes today as it may. */
  const judgeBytes = async <J extends Judged>(it: Judgeable<J>, body: number): Promise<JudgedBytes<J>> => {
    const { account, copies = 1, records = 1 } = it;
    const bytes = body * copies + records * RECORDS_BYTES;
    const overBytes = (judged: J): JudgedBytes<J> => {
      const retryAfterS = Math.ceil(untilMidnight("UTC", clock.now()) / 1_000);
      return { judged: refusedLate(judged, OVER_BYTES, retryAfterS), taken: null };
    };
    if (!(await allowances.hasRoom(account, "stored", bytes))) {
      const asked = await it.judge("ask");
      return asked.verdict.decision === "deny" ? { judged: asked, taken: null } : overBytes(asked);
    }
    const judged = (await recordsRefusals(account, body)) ? await judgeHeld(it) : await judgeSparingly(it);
    if (judged.verdict.decision === "deny") return { judged, taken: null };
    const taken = await allowances.take(account, "stored", bytes);
    if (taken !== null) return { judged, taken };
    await giveBack(it, judged);
    return overBytes(judged);
  };

  /** False where this process knows that a refused body of so many bytes would only be counted. */
  const recordsRefusals = async (account: string, body: number): Promise<boolean> =>
    (await allowances.hasRoom(account, "refused", body + RECORDS_BYTES)) ||
    (await allowances.hasRoom(account, "refused_records", 1));

  /**
   * Asks the gates and stores the payload, both at once as long as the process has bytes at hand that let a refused one be
   * stored whole. Else the verdict comes first, because it decides how much is stored.
   */
  const judgeAndKeep = async <J extends Judged>(
    it: Judgeable<J>,
    incoming: Incoming,
    envelope: Envelope,
  ): Promise<JudgedAndKept<J> | JudgedAlone<J>> => {
    const { account, id } = it;
    if (it.kept !== undefined) {
      return { form: incoming, first: it.kept, judged: await judgeHeld(it), taken: null, reusable: 0 };
    }
    const body = bytesOf(incoming);
    const atHand = allowances.takeAtHand(account, "refused", body + RECORDS_BYTES);
    const keepFirst = (form: Incoming) => deps.payloads.keepFirst(id, form, envelope);
    if (atHand !== null) {
      const [first, { judged, taken }] = await both(keepFirst(incoming), judgeBytes(it, body));
      if (judged.verdict.decision === "deny") return { form: incoming, first, judged, taken: atHand, reusable: body };
      atHand.giveBack();
      return { form: incoming, first, judged, taken, reusable: body };
    }
    const { judged, taken } = await judgeBytes(it, body);
    if (judged.verdict.decision !== "deny") {
      return { form: incoming, first: await keepFirst(incoming), judged, taken, reusable: body };
    }
    const whole = await allowances.take(account, "refused", body + RECORDS_BYTES);
    if (whole !== null) {
      return { form: incoming, first: await keepFirst(incoming), judged, taken: whole, reusable: body };
    }
    const record = await allowances.take(account, "refused_records", 1);
    if (record === null) return { judged, form: null };
    const form = headOf(incoming);
    return { form, first: await keepFirst(form), judged, taken: record, reusable: 0 };
  };

  /** Asks the gates and writes the verdict down under the revision that was known before they were asked. Whatever came in
   * between (another winner, or the fence of `placeStatus`) makes the append conflict: a verdict is never used twice. */
  const claim = async <S, E extends Fact, Q, J extends Judged>(
    it: Claimable<S, E, Q, J>,
    from: StreamState<S>,
    attempt = 1,
  ): Promise<ClaimedOnce<S, J>> => {
    const { id, stream, decider, isClaimed } = it;
    if (isClaimed(from.state)) {
      // An earlier attempt may have stored a payload after the winner's was erased.
      if (attempt > 1) await eraseLeft(log, id);
      tell(it, "duplicate");
      return { outcome: "taken", known: from };
    }
    const hasLost = (state: S): boolean => it.kept !== undefined && isErasedAt(it.erasedUpTo(state), it.kept.revision);
    if (hasLost(from.state)) return { outcome: "taken", known: from };
    if (attempt > CLAIMS_MAX) throw new LogUnavailable(`${id} is written by too many at once`);
    const envelope = envelopeOf(it);
    const incoming = it.incoming();
    const payloadEnvelope = { ...envelope, commandId: `${envelope.commandId}/payload` };
    const judgedAndKept = await judgeAndKeep(it, incoming, payloadEnvelope);
    const { judged } = judgedAndKept;
    if (judgedAndKept.form === null) {
      // Nothing was appended that would conflict if another request with its id was claimed before.
      const known = await foldStream(log, decider, stream, { from });
      if (isClaimed(known.state)) return claim(it, known, attempt + 1);
      deps.onOnlyCounted?.(it, judged.refusedBy);
      tell(it, "blocked", judged);
      return { outcome: "refused", judged };
    }
    const { form, first, taken, reusable } = judgedAndKept;
    const known = first === null ? await foldStream(log, decider, stream, { from }) : from;
    /** What was reserved for this verdict keeps its place until the next one is written down. */
    const claimAgain = async (later: StreamState<S>): Promise<ClaimedOnce<S, J>> => {
      const claimed = await claim(it, later, attempt + 1);
      await giveBack(it, judged);
      return claimed;
    };
    // Another request may have been decided in between, or the fence of `placeStatus` has given the places back already.
    if (known.revision !== from.revision) {
      taken?.giveBack();
      return claimAgain(known);
    }
    // Nothing is decided: what came before was blocked, or died on its way here.
    const kept = first ?? (await deps.payloads.keepAgain(id, form, payloadEnvelope, it.erasedUpTo(known.state)));
    if (kept.isReused === true) taken?.giveBack(reusable);
    const about = decided(it, incoming, kept, judged);
    const request = it.requestOf(about, judged);
    const { at } = about;
    const isHeld = judged.verdict.decision === "hold";
    const requesters = isHeld ? await requestersOf(deps.aggregates, { ...it, at }) : [];
    const command = await commandFor(it, request, it.bind, judged, { at, requesters });
    const decision = decider.decide(command, known.state);
    if (!decision.ok) {
      await giveBack(it, judged);
      return { outcome: "taken", known };
    }
    const records = toEvents(decision.events, envelope);
    const appended = await appendKnown(log, stream, known.revision ?? "absent", records);
    if (appended.outcome === "conflict") return claimAgain(await foldStream(log, decider, stream, { from: known }));
    const { decision: verdict } = judged.verdict;
    tell(it, verdict === "deny" ? "blocked" : verdict === "hold" ? "held" : "admitted", judged);
    if (verdict === "deny") return { outcome: "refused", judged };

    settle(it, judged, about);
    const state = decision.events.reduce(decider.evolve, known.state);
    const { revision, position } = appended;
    // The answer names the approval, so it is requested first. Its record comes after that of the hold.
    const hold = records.find(isHold);
    const latest = hold === undefined ? position : await approvals.request(hold);
    return { outcome: "claimed", known: { state, revision, position }, position: latest };
  };

  return claim;
};
