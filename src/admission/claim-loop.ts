import { approvalTerms } from "../../domain/approval/terms.ts";
import { iso } from "../../domain/calendar.ts";
import { defined } from "../../domain/defined.ts";
import { isErasedAt } from "../../domain/delivery/erased.ts";
import type { Origin } from "../../domain/delivery/events.ts";
import type { GateResult } from "../../domain/gate/verdict.ts";
import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";
import { approvalRequests, isHold } from "../approvals/approval-requests.ts";
import { approvalIdOf } from "../approvals/approvals.ts";
import { requestersOf } from "../approvals/requesters.ts";
import { eraseLeft } from "../erasure/erasures.ts";
import type { DecisionReport } from "../observability/observer.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { type Envelope, type Fact, type Trace, toEvents } from "../streams/envelope.ts";
import type { KeptPayload } from "../streams/payload-ref.ts";
import type { Incoming } from "../streams/payloads.ts";
import { appendKnown, foldStream, type StreamState } from "../streams/run-command.ts";
import type { Claimable, ClaimCommand, ClaimSubject, RecordedVerdict } from "./claim-subject.ts";
import { Intake, type IntakeDeps, type StoredIntake } from "./intake.ts";
import type { Judgement } from "./judge.ts";
import { claimCommand, claimEnvelope, decisionReport, recordedVerdict, settle } from "./recorded-verdict.ts";

export type ClaimLoopDeps = IntakeDeps & {
  readonly log: EventLog;
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly randomness: Randomness;
  readonly onOnlyCounted?: (
    request: { readonly account: string; readonly origin: Origin; readonly trace: Trace },
    gate: GateResult | undefined,
  ) => void;
  readonly onDecided?: (decision: DecisionReport) => void;
};

export type ClaimResult<S, J> =
  /** `position` is that of the last record: the claim, or for a held request the record of its approval. */
  | { readonly outcome: "claimed"; readonly known: StreamState<S>; readonly position: Position }
  | { readonly outcome: "denied"; readonly judged: J }
  /** Another request claimed the id, or decided this replay; or the payload to decide again has been erased. */
  | { readonly outcome: "taken"; readonly known: StreamState<S> };

/**
 * Each lost claim means that another request wrote to the stream. Eight in a row are no coincidence, so the request
 * fails.
 */
const CLAIMS_MAX = 8;

type Attempt<S, E extends Fact, Q, J extends Judgement> = {
  readonly it: Claimable<S, E, Q, J>;
  readonly number: number;
  readonly known: StreamState<S>;
  readonly envelope: Envelope;
  readonly judged: J;
};

export class ClaimLoop {
  readonly #deps: ClaimLoopDeps;
  readonly #intake: Intake;
  readonly #approvals: ReturnType<typeof approvalRequests>;

  constructor(deps: ClaimLoopDeps) {
    this.#deps = deps;
    this.#intake = new Intake(deps);
    this.#approvals = approvalRequests(deps);
  }

  /**
   * The verdict is appended at the revision that was known before the gates were asked. Any record since then (another
   * request's claim, or the fence of `placeStatus`) makes the append conflict, so a verdict is never used twice.
   */
  async claim<S, E extends Fact, Q, J extends Judgement>(
    it: Claimable<S, E, Q, J>,
    from: StreamState<S>,
    number = 1,
  ): Promise<ClaimResult<S, J>> {
    const { log, payloads } = this.#deps;
    const { id, stream, decider, erasedUpTo } = it;
    if (it.isClaimed(from.state)) {
      // An earlier turn of this loop may have stored a payload after that of the request that won the claim was erased.
      if (number > 1) await eraseLeft(log, id);
      this.#report(it, "duplicate");
      return { outcome: "taken", known: from };
    }
    if (it.kept !== undefined && isErasedAt(erasedUpTo(from.state), it.kept.revision)) {
      return { outcome: "taken", known: from };
    }
    if (number > CLAIMS_MAX) throw new LogUnavailable(`${id} is written by too many at once`);
    const { clock, randomness } = this.#deps;
    const envelope = claimEnvelope(it, claimCommand(randomness), iso(clock.now()));
    const incoming = it.incoming();
    const payloadEnvelope = { ...envelope, commandId: `${envelope.commandId}/payload` };
    const intake = await this.#intake.judgeAndStore(it, incoming, payloadEnvelope);
    const { judged } = intake;
    if (intake.form === null) return this.#countOnly({ it, number, known: from, envelope, judged });
    const { form, first, taken, reusable }: StoredIntake<J> = intake;
    const known = first === null ? await foldStream(log, decider, stream, { from }) : from;
    const attempt = { it, number, known, envelope, judged };
    // Meanwhile another request was decided, or the fence of `placeStatus` has released this request's places.
    if (known.revision !== from.revision) {
      taken?.giveBack();
      return this.#claimAgain(attempt, known);
    }
    const kept = first ?? (await payloads.keepAgain(id, form, payloadEnvelope, erasedUpTo(known.state)));
    if (kept.isReused === true) taken?.giveBack(reusable);
    return this.#record(attempt, incoming, kept);
  }

  /** A lost verdict's places are released only after the next verdict, so that no other event takes them meanwhile. */
  async #claimAgain<S, E extends Fact, Q, J extends Judgement>(
    { it, number, judged }: Attempt<S, E, Q, J>,
    later: StreamState<S>,
  ): Promise<ClaimResult<S, J>> {
    const claimed = await this.claim(it, later, number + 1);
    await this.#intake.giveBack(it, judged);
    return claimed;
  }

  async #countOnly<S, E extends Fact, Q, J extends Judgement>({
    it,
    number,
    known: from,
    judged,
  }: Attempt<S, E, Q, J>): Promise<ClaimResult<S, J>> {
    // A denial that is only counted appends nothing, so no conflict shows that another request has claimed the id.
    const known = await foldStream(this.#deps.log, it.decider, it.stream, { from });
    if (it.isClaimed(known.state)) return this.claim(it, known, number + 1);
    this.#deps.onOnlyCounted?.(it, judged.deniedBy);
    this.#report(it, "blocked", judged);
    return { outcome: "denied", judged };
  }

  async #record<S, E extends Fact, Q, J extends Judgement>(
    attempt: Attempt<S, E, Q, J>,
    incoming: Incoming,
    kept: KeptPayload,
  ): Promise<ClaimResult<S, J>> {
    const { it, known, envelope, judged } = attempt;
    const { log } = this.#deps;
    const { decider, stream } = it;
    const decided = recordedVerdict({ it, incoming, kept, judged }, this.#deps.clock.now());
    const command = await this.#commandFor(it, decided, judged);
    const decision = decider.decide(command, known.state);
    if (!decision.ok) {
      await this.#intake.giveBack(it, judged);
      return { outcome: "taken", known };
    }
    const records = toEvents(decision.events, envelope);
    const appended = await appendKnown(log, stream, known.revision ?? "absent", records);
    if (appended.outcome === "conflict") {
      return this.#claimAgain(attempt, await foldStream(log, decider, stream, { from: known }));
    }
    const { decision: verdict } = judged.verdict;
    this.#report(it, verdict === "deny" ? "blocked" : verdict === "hold" ? "held" : "admitted", judged);
    if (verdict === "deny") return { outcome: "denied", judged };

    settle(this.#deps.ledgers, judged, decided);
    const state = decision.events.reduce(decider.evolve, known.state);
    const { revision, position } = appended;
    // The answer names the approval, so the approval is requested before the answer is sent.
    const hold = records.find(isHold);
    const latest = hold === undefined ? position : await this.#approvals.request(hold);
    return { outcome: "claimed", known: { state, revision, position }, position: latest };
  }

  async #commandFor<S, E extends Fact, Q, J extends Judgement>(
    it: Claimable<S, E, Q, J>,
    decided: RecordedVerdict,
    judged: J,
  ): Promise<ClaimCommand<Q>> {
    const { id, account, replay } = it;
    const { approvals, verdict } = judged;
    const asked = it.requestOf(decided, judged);
    if (verdict.decision === "allow") return { type: "Admit", request: asked };
    if (verdict.decision === "deny") return { type: "Block", request: asked };
    const requesters = await requestersOf(this.#deps.aggregates, { ...it, at: decided.at });
    const { request, digest } = await it.bind(asked);
    if (approvals.length === 0) throw new Error(`${id} is held without a rule that says so`);
    const about = {
      approvalId: approvalIdOf(account, id, replay?.id),
      digest,
      gates: verdict.gates,
      atMs: Date.parse(decided.at),
      ...defined({ member: replay?.by.kind === "member" ? replay.by.id : undefined }),
      requesters,
    };
    return { type: "Hold", request, approval: approvalTerms(approvals, about) };
  }

  #report(it: ClaimSubject, outcome: DecisionReport["outcome"], judged?: Judgement): void {
    this.#deps.onDecided?.(decisionReport({ it, outcome, judged }, this.#deps.clock.now()));
  }
}
