import { iso } from "../../domain/calendar.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { Delivery } from "../../domain/delivery/state.ts";
import type { Answer } from "../../domain/ledger/batch.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { GroupedAppend, GroupedOutcome, NewEvent, Position, Revision } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import type { AdmissionLease } from "../delivery/admission-lease.ts";
import type { Deliverer } from "../delivery/deliverer.ts";
import type { IncomingRequest } from "../gates/incoming-request.ts";
import type { ByteAllowances, TakenBytes } from "../ledgers/byte-allowances.ts";
import type { LedgerTurn } from "../ledgers/ledger-turn.ts";
import type { DayRequest, Ledgers, Reservation } from "../ledgers/ledgers.ts";
import type { Recorder, Trace } from "../streams/envelope.ts";
import type { KeptPayload } from "../streams/payload-ref.ts";
import { bytesOf, type Incoming, type PayloadDraft, type Payloads } from "../streams/payloads.ts";
import type { LedgerAsk } from "./ask-ledgers.ts";
import { incomingOf, jobOf, requestOf } from "./event-request.ts";
import { RECORDS_BYTES } from "./intake.ts";
import type { Judgement, PassedGates } from "./judge.ts";
import { ledgerGates } from "./ledger-gates.ts";
import { claimCommand, claimEnvelope, recordedVerdict } from "./recorded-verdict.ts";

export type GroupDeps = {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly ledgers: Pick<Ledgers, "turns" | "release" | "settle">;
  readonly payloads: Pick<Payloads, "draftFirst">;
  readonly allowances: Pick<ByteAllowances, "takeAtHand">;
  readonly deliver: Pick<Deliverer, "lease" | "offer">;
};

/** A webhook that every gate has passed but those which count. */
export type Candidate = {
  readonly it: IncomingRequest;
  readonly gates: PassedGates;
  /** Set if an earlier group has stored the payload and lost its claim. */
  readonly kept: KeptPayload | null;
};

/** "aside": a group cannot admit the request. "busy": it may once the ledger is free. */
export type Unadmitted = { readonly outcome: "aside" } | ({ readonly outcome: "busy" } & LedgerName);

type LedgerName = { readonly stream: string; readonly account: string };

type Asked = { readonly turn: LedgerTurn; readonly answer: Answer };

export type Decided<C extends Candidate> = {
  readonly candidate: C;
  readonly judged: Judgement;
  readonly bytes: TakenBytes;
  readonly payload: PayloadDraft | null;
  readonly kept: KeptPayload;
  readonly records: readonly NewEvent[];
  /** The delivery's state after its admission, without the lease. */
  readonly admitted: Delivery;
  readonly lease: AdmissionLease | null;
};

export type Settled<C extends Candidate> = { readonly decided: Decided<C> } & (
  | { readonly outcome: "admitted"; readonly revision: Revision; readonly position: Position }
  /**
   * `lost` are the places that were taken although the claim was not. If only a ledger was lost to another node, the
   * request can be decided again with its payload, which is then `stored`; else `stored` is null.
   */
  | { readonly outcome: "lost"; readonly lost: readonly Reservation[]; readonly stored: KeptPayload | null }
);

type Content = { readonly incoming: Incoming };
/** `payload` and `claim` are indexes of appends; `payload` is null if an earlier group has stored it. */
type Appended<C extends Candidate> = {
  readonly decided: Decided<C>;
  readonly payload: number | null;
  readonly claim: number;
};

const ASIDE: Unadmitted = { outcome: "aside" };

/** In the reverse order, as a ledger can undo just its last reservation. */
const retract = (asked: readonly Asked[]): void => {
  for (const { turn, answer } of asked.toReversed()) turn.retract(answer);
};

const positionOf = (settled: Settled<Candidate>): Position | "" =>
  settled.outcome === "admitted" ? settled.position : "";

const admittedAt = <C extends Candidate>(
  decided: Decided<C>,
  { revision, position }: Extract<GroupedOutcome, { outcome: "appended" }>,
): Settled<C> => ({ decided, outcome: "admitted", revision, position });

const isAppended = (outcome: GroupedOutcome | undefined): boolean => outcome?.outcome === "appended";

/**
 * Admissions that are decided at once and appended together: the ledgers' reservations, the payloads, and the claims,
 * each of which follows what it rests on. Whatever is not a plain admission with everything at hand is left to
 * `ClaimLoop`, so that a group never waits.
 */
export class AdmissionGroup<C extends Candidate> {
  readonly #deps: GroupDeps;
  readonly #recorder: Recorder;
  readonly #nowMs: number;
  readonly #at: string;
  /** The commands of the group's claims have this id and a number each. */
  readonly #command: string;
  readonly #dayLedgers = new Map<string, string | null>();
  readonly #turns = new Map<string, LedgerTurn>();
  /** By ledger, the trace of its first reservation. A group may have requests of several accounts. */
  readonly #traces = new Map<string, Trace>();
  readonly #unsettled = new Set<Decided<C>>();
  readonly #appends: GroupedAppend[] = [];
  readonly #ledgerAt = new Map<string, number>();
  /** The ledgers whose turns have not ended. */
  readonly #openTurns = new Set<string>();
  /** What is not settled yet, by the index of its claim. */
  readonly #byClaim = new Map<number, Appended<C>>();

  constructor(deps: GroupDeps, recorder: Recorder) {
    this.#deps = deps;
    this.#recorder = recorder;
    this.#nowMs = deps.clock.now();
    this.#at = iso(this.#nowMs);
    this.#command = claimCommand(deps.randomness);
  }

  /** Null if the request is admitted with the group. If it throws, the group is as if the request had not come. */
  decide(candidate: C): Unadmitted | null {
    const asked: Asked[] = [];
    try {
      const unadmitted = this.#decide(candidate, asked);
      if (unadmitted !== null) retract(asked);
      return unadmitted;
    } catch (error) {
      retract(asked);
      throw error;
    }
  }

  /** The appends of the whole group: the ledgers' first, as the claims follow them. */
  appends(): readonly GroupedAppend[] {
    for (const [stream, turn] of this.#turns) {
      const trace = this.#traces.get(stream);
      const draft = trace === undefined ? null : turn.draft(trace);
      if (draft !== null) this.#ledgerAt.set(stream, this.#push({ ...draft, follows: [] }));
      else {
        this.#openTurns.delete(stream);
        turn.end("cancelled");
      }
    }
    for (const decided of this.#unsettled) this.#append(decided);
    return this.#appends;
  }

  /** Ends the turn of the ledger whose append is answered, and returns the ledger; null if there is none to end. */
  endTurnAt(index: number, outcome: GroupedOutcome): string | null {
    const stream = this.#appends[index]?.stream;
    if (stream === undefined || !this.#openTurns.has(stream)) return null;
    this.#endTurn(stream, outcome);
    return stream;
  }

  /**
   * Settles a request that the answer of one append has admitted. One that lost its claim is left to `settle`, as it has
   * to know what became of its ledgers and its payload.
   */
  settleAt(index: number, outcome: GroupedOutcome): Settled<C> | null {
    const decided = this.#byClaim.get(index)?.decided;
    if (decided === undefined || outcome.outcome !== "appended") return null;
    this.#byClaim.delete(index);
    this.#unsettled.delete(decided);
    return admittedAt(decided, outcome);
  }

  /** Ends the ledgers' turns, and tells of each request not settled yet what became of it, in the order of the log. */
  settle(outcomes: readonly GroupedOutcome[]): readonly Settled<C>[] {
    for (const stream of this.#openTurns) this.#endTurn(stream, outcomes[this.#ledgerAt.get(stream) ?? -1]);
    const settled = [...this.#byClaim.values()].map((appended) => this.#settleOne(appended, outcomes));
    return settled.sort((a, b) => (positionOf(a) < positionOf(b) ? -1 : 1));
  }

  /** Nothing is known of the other appends, so nothing is sent for them, and their ledgers are read again. */
  fail(isUnwritten: boolean): void {
    for (const stream of this.#openTurns) this.#turns.get(stream)?.end("reload");
    for (const { lease, bytes } of this.#unsettled) {
      lease?.cancel();
      if (isUnwritten) bytes.giveBack();
    }
  }

  /** The ledgers whose turns the group still holds: until their appends are answered, or it has failed. */
  ledgers(): ReadonlySet<string> {
    return this.#openTurns;
  }

  candidates(): readonly C[] {
    return Array.from(this.#unsettled, ({ candidate }) => candidate);
  }

  #decide(candidate: C, asked: Asked[]): Unadmitted | null {
    const judged = this.#count(candidate, asked);
    if ("outcome" in judged) return judged;
    const { it, kept } = candidate;
    const incoming = incomingOf(it);
    // A payload that an earlier group has stored was counted then.
    const stored = RECORDS_BYTES + (kept === null ? bytesOf(incoming) : 0);
    const bytes = this.#deps.allowances.takeAtHand(it.account, "stored", stored);
    if (bytes === null) return ASIDE;
    try {
      this.#unsettled.add(this.#admit({ candidate, incoming, judged, bytes }));
    } catch (error) {
      bytes.giveBack();
      throw error;
    }
    for (const { stream } of judged.reservations) {
      if (!this.#traces.has(stream)) this.#traces.set(stream, it.trace);
    }
    return null;
  }

  /** Asks the gates that count. A denial is left to the general path, which reads the ledger before it refuses. */
  #count({ gates }: Candidate, asked: Asked[]): Judgement | Unadmitted {
    const asking = ledgerGates(gates.limits, this.#nowMs);
    let step = asking.next(null);
    while (step.done !== true) {
      const reserved = this.#reserve(step.value, asked);
      if ("outcome" in reserved) return reserved;
      step = asking.next(reserved);
    }
    const judged = gates.conclude(step.value, this.#nowMs);
    return judged.verdict.decision === "allow" ? judged : ASIDE;
  }

  #reserve(asked: LedgerAsk, answers: Asked[]): Reservation | Unadmitted {
    if (asked.ask === "release") return ASIDE;
    const isOfDay = asked.ask === "day";
    const { event, limits, places = 1 } = asked.request;
    const { turns } = this.#deps.ledgers;
    const stream = isOfDay ? this.#dayLedger(asked.request.policy) : asked.request.stream;
    if (stream === null) return ASIDE;
    const account = isOfDay ? asked.request.policy.account : asked.request.account;
    const turn = this.#turns.get(stream) ?? turns.take(stream, account);
    if (turn === null) return { outcome: "busy", stream, account };
    this.#turns.set(stream, turn);
    this.#openTurns.add(stream);
    const answer = turn.reserve({ type: "Reserve", event, cost: isOfDay ? asked.request.cost : 0, places, limits });
    answers.push({ turn, answer });
    return answer.granted ? { stream, account, event, answer } : ASIDE;
  }

  #dayLedger(policy: DayRequest["policy"]): string | null {
    const known = this.#dayLedgers.get(policy.id);
    if (known !== undefined) return known;
    const stream = this.#deps.ledgers.turns.dayLedger(policy);
    this.#dayLedgers.set(policy.id, stream);
    return stream;
  }

  #admit({
    candidate,
    incoming,
    judged,
    bytes,
  }: Pick<Decided<C>, "candidate" | "judged" | "bytes"> & Content): Decided<C> {
    const { it } = candidate;
    // The payload is of the same command, and so has the same metadata.
    const envelope = claimEnvelope(it, `${this.#command}/${this.#unsettled.size}`, this.#at);
    const { payloads, deliver } = this.#deps;
    const payload =
      candidate.kept === null ? payloads.draftFirst(it.eventId, incoming, envelope, this.#recorder) : null;
    const kept = candidate.kept ?? payload?.kept;
    if (kept === undefined) throw new Error(`the payload of ${it.eventId} is too long for a group`);
    const { asked, receivedAt } = it;
    const about = { endsLater: asked !== null, receivedAt };
    const verdict = recordedVerdict({ it: about, incoming, kept, judged }, this.#nowMs);
    const decision = delivery.decide({ type: "Admit", request: requestOf(it, verdict) }, delivery.initial);
    if (!decision.ok) throw new Error(`${it.eventId} cannot be admitted: ${decision.rejection}`);
    const admitted = decision.events.reduce(delivery.evolve, delivery.initial);
    const records = this.#recorder.toEvents(decision.events, envelope);
    const job = jobOf(it);
    // The lease is taken last, as nothing that could throw may follow it.
    const lease = job === null ? null : deliver.lease(job, admitted);
    if (lease !== null) records.push(...lease.records);
    return { candidate, judged, bytes, payload, kept, admitted, lease, records };
  }

  #append(decided: Decided<C>): void {
    const { candidate, judged, payload, records } = decided;
    const follows: number[] = [];
    for (const { stream } of judged.reservations) {
      const at = this.#ledgerAt.get(stream);
      if (at !== undefined) follows.push(at);
    }
    let first: number | null = null;
    if (payload !== null) {
      const { stream, events } = payload;
      first = this.#push({ stream, expected: "absent", events, follows: [] });
      follows.push(first);
    }
    const { eventId } = candidate.it;
    const claim = this.#push({ stream: `delivery-${eventId}`, expected: "absent", events: records, follows });
    this.#byClaim.set(claim, { decided, payload: first, claim });
  }

  #push(append: GroupedAppend): number {
    return this.#appends.push(append) - 1;
  }

  #endTurn(stream: string, outcome: GroupedOutcome | undefined): void {
    this.#openTurns.delete(stream);
    const turn = this.#turns.get(stream);
    if (outcome?.outcome === "appended") turn?.appended(outcome.revision);
    else turn?.end("conflicted");
  }

  #settleOne({ decided, ...at }: Appended<C>, outcomes: readonly GroupedOutcome[]): Settled<C> {
    const claim = outcomes[at.claim];
    if (claim === undefined) throw new Error("a group was not answered whole");
    if (claim.outcome === "appended") return admittedAt(decided, claim);
    decided.lease?.cancel();
    const isStored = at.payload === null || isAppended(outcomes[at.payload]);
    // A stored payload stays counted: whoever claims the event finds it, and does not count it again.
    if (isStored) decided.bytes.giveBack(RECORDS_BYTES);
    else decided.bytes.giveBack();
    const { reservations } = decided.judged;
    const lost = reservations.filter(({ stream }) => isAppended(outcomes[this.#ledgerAt.get(stream) ?? -1]));
    const isOfLedger = claim.outcome === "refused" && isStored;
    return { decided, outcome: "lost", lost, stored: isOfLedger ? decided.kept : null };
  }
}
