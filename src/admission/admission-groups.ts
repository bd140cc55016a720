import type { EventLog, GroupedAppend, GroupedOutcome } from "../../domain/ports/event-log.ts";
import { OutcomeUnknown } from "../../infra/log-errors.ts";
import type { IncomingRequest } from "../gates/incoming-request.ts";
import type { Reservation } from "../ledgers/ledgers.ts";
import type { DecisionReport } from "../observability/observer.ts";
import { Recorder } from "../streams/envelope.ts";
import { appendGroupKnown } from "../streams/run-command.ts";
import { AdmissionGroup, type Candidate, type GroupDeps, type Settled, type Unadmitted } from "./admission-group.ts";
import type { EventClaimResult } from "./claim-event.ts";
import { jobOf, subjectOf } from "./event-request.ts";
import type { PassedGates } from "./judge.ts";
import { decisionReport } from "./recorded-verdict.ts";

export type AdmissionGroupsDeps = GroupDeps & {
  readonly log: Pick<EventLog, "appendGroup">;
  readonly onDecided?: (decision: DecisionReport) => void;
};

/** With these limits a group takes the main thread for a few ms, and is far below the limits of the log's groups. */
const GROUP_REQUESTS_MAX = 64;
const GROUP_BODY_BYTES_MAX = 1_048_576;
/** Longer bodies are parsed and stored by the general path. */
const BODY_BYTES_MAX = 32_768;
/** A second group, of other ledgers, may be decided while the first is being appended. */
const UNDER_WAY_MAX = 2;
/** A group that is appended for longer (ms), as when a reply was lost, holds up only what needs its ledgers. */
const SLOW_MS = 500;
/** A request that so many groups could not admit, as its ledgers were in use or lost, takes the general path. */
const TRIES_MAX = 3;
/** So does one that has met groups with one of its ledgers so often: newer requests that need fewer pass it. */
const BLOCKED_MAX = 8;

export type Grouped =
  | (Extract<EventClaimResult, { outcome: "claimed" }> & { readonly lost: Lost })
  /** The general path has to decide. */
  | { readonly outcome: "aside"; readonly lost: Lost };

/** Places of lost claims, which the caller has to give back. */
type Lost = readonly Reservation[];

type Waiting = Candidate & {
  readonly tries: number;
  readonly blocked: number;
  readonly lost: Lost;
  readonly resolve: (grouped: Grouped) => void;
  readonly reject: (error: unknown) => void;
};

type Busy = Extract<Unadmitted, { outcome: "busy" }>;
type Admitted = Extract<Settled<Waiting>, { outcome: "admitted" }>;

const fail = (group: AdmissionGroup<Waiting>, error: unknown): void => {
  group.fail(!(error instanceof OutcomeUnknown));
  for (const { reject } of group.candidates()) reject(error);
};

const leave = ({ resolve, lost }: Waiting): void => resolve({ outcome: "aside", lost });

/** Puts the admissions that wait at the same time into groups: the next begins when the last is appended. */
export class AdmissionGroups {
  readonly #deps: AdmissionGroupsDeps;
  readonly #recorder: Recorder;
  #waiting: Waiting[] = [];
  /** Requests whose ledgers are held by groups under way. */
  #blocked: Waiting[] = [];
  /** Requests by the ledger that they wait for, because another part of the program uses it. */
  readonly #byLedger = new Map<string, Waiting[]>();
  readonly #held = new Set<string>();
  #underWay = 0;
  #isDue = false;

  constructor(deps: AdmissionGroupsDeps) {
    this.#deps = deps;
    this.#recorder = new Recorder(deps.randomness);
  }

  admit(it: IncomingRequest, gates: PassedGates): Promise<Grouped> {
    if (it.body.length > BODY_BYTES_MAX) return Promise.resolve({ outcome: "aside", lost: [] });
    return new Promise((resolve, reject) => {
      this.#waiting.push({ it, gates, kept: null, tries: 1, blocked: 0, lost: [], resolve, reject });
      this.#pumpSoon();
    });
  }

  /** Requests that come in the same turn of the event loop share a group even if nothing is under way. */
  #pumpSoon(): void {
    if (this.#isDue || this.#waiting.length === 0 || this.#underWay >= UNDER_WAY_MAX) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#pump();
      this.#pumpSoon();
    });
  }

  #pump(): void {
    const group = new AdmissionGroup<Waiting>(this.#deps, this.#recorder);
    for (const candidate of this.#takeNext()) {
      try {
        const unadmitted = group.decide(candidate);
        if (unadmitted?.outcome === "busy") this.#waitFor(candidate, unadmitted);
        else if (unadmitted !== null) leave(candidate);
      } catch (error) {
        candidate.reject(error);
      }
    }
    try {
      const appends = group.appends();
      if (appends.length > 0) void this.#append(group, appends);
    } catch (error) {
      fail(group, error);
    }
  }

  #takeNext(): readonly Waiting[] {
    let bytes = 0;
    const tooMuch = this.#waiting.findIndex(({ it }, index) => {
      bytes += it.body.length;
      return index >= GROUP_REQUESTS_MAX || bytes > GROUP_BODY_BYTES_MAX;
    });
    return this.#waiting.splice(0, tooMuch === -1 ? this.#waiting.length : tooMuch);
  }

  #waitFor(candidate: Waiting, { stream, account }: Busy): void {
    if (this.#held.has(stream) && candidate.blocked < BLOCKED_MAX) {
      this.#blocked.push({ ...candidate, blocked: candidate.blocked + 1 });
      return;
    }
    const others = this.#byLedger.get(stream);
    if (candidate.tries >= TRIES_MAX || this.#held.has(stream)) leave(candidate);
    else if (others !== undefined) others.push(candidate);
    else {
      this.#byLedger.set(stream, [candidate]);
      // If the ledger cannot be read, the general path says why.
      const retry = () => this.#retry(stream);
      this.#deps.ledgers.turns.whenFree(stream, account).then(retry, retry);
    }
  }

  #retry(stream: string): void {
    for (const candidate of this.#byLedger.get(stream) ?? []) {
      this.#waiting.push({ ...candidate, tries: candidate.tries + 1 });
    }
    this.#byLedger.delete(stream);
    this.#pumpSoon();
  }

  async #append(group: AdmissionGroup<Waiting>, appends: readonly GroupedAppend[]): Promise<void> {
    this.#underWay += 1;
    for (const stream of group.ledgers()) this.#held.add(stream);
    let isCounted = true;
    const uncount = (): void => {
      if (isCounted) this.#underWay -= 1;
      isCounted = false;
      this.#pumpSoon();
    };
    const slow = setTimeout(uncount, SLOW_MS).unref();
    const settleAt = (index: number, outcome: GroupedOutcome): void => this.#settleAt(group, index, outcome);
    const outcomes = await appendGroupKnown(this.#deps.log, appends, settleAt).catch((error: unknown) => {
      fail(group, error);
      return null;
    });
    clearTimeout(slow);
    for (const stream of group.ledgers()) this.#held.delete(stream);
    if (outcomes !== null) this.#settle(group, outcomes);
    this.#unblock();
    uncount();
  }

  #unblock(): void {
    this.#waiting.unshift(...this.#blocked.splice(0));
  }

  /** On a log on a server one append may take seconds, and delays neither the group's others nor its ledgers. */
  #settleAt(group: AdmissionGroup<Waiting>, index: number, outcome: GroupedOutcome): void {
    try {
      const ledger = group.endTurnAt(index, outcome);
      if (ledger !== null) this.#held.delete(ledger);
      if (ledger !== null && group.ledgers().size === 0) this.#unblock();
      const settled = group.settleAt(index, outcome);
      if (settled !== null) this.#conclude(settled);
      this.#pumpSoon();
    } catch (error) {
      for (const { reject } of group.candidates()) reject(error);
    }
  }

  #settle(group: AdmissionGroup<Waiting>, outcomes: readonly GroupedOutcome[]): void {
    try {
      for (const settled of group.settle(outcomes)) this.#conclude(settled);
    } catch (error) {
      // Those that were answered already stay so.
      for (const { reject } of group.candidates()) reject(error);
    }
  }

  #conclude(settled: Settled<Waiting>): void {
    const { candidate } = settled.decided;
    if (settled.outcome === "admitted") {
      this.#admitted(settled);
      return;
    }
    const lost = [...candidate.lost, ...settled.lost];
    const { stored } = settled;
    if (stored === null || candidate.tries >= TRIES_MAX) candidate.resolve({ outcome: "aside", lost });
    else this.#waiting.push({ ...candidate, tries: candidate.tries + 1, kept: stored, lost });
  }

  #admitted({ decided: { candidate, judged, admitted, lease }, revision, position }: Admitted): void {
    const { it, resolve, lost } = candidate;
    const { ledgers, onDecided, clock, deliver } = this.#deps;
    for (const reservation of judged.reservations) ledgers.settle(reservation, judged.cost ?? 0);
    onDecided?.(decisionReport({ it: subjectOf(it), outcome: "admitted", judged }, clock.now()));
    const known = { state: admitted, revision, position };
    const job = jobOf(it);
    if (lease !== null) lease.begin({ revision, position });
    else if (job !== null) deliver.offer({ known, ...job });
    resolve({ outcome: "claimed", known, position, lost });
  }
}
