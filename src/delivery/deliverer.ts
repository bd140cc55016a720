import { attemptableAt, type Delivery } from "../../domain/delivery/state.ts";
import { endpoint as endpointDecider, type PresentEndpoint, takesDeliveries } from "../../domain/endpoint/decider.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { systemTimers } from "../following/timers.ts";
import type { AttemptReport } from "../observability/observer.ts";
import { systemEnvelope } from "../streams/envelope.ts";
import type { StreamState } from "../streams/run-command.ts";
import { type AdmissionLease, endedOnce, type LeasableJob, leasable } from "./admission-lease.ts";
import type { SentAttempt } from "./attempt-sender.ts";
import { type AttemptDeps, Attempts, type DecidedStart, type NotSent } from "./attempts.ts";
import { Backlog } from "./backlog.ts";
import { DiskRounds, LOOK_GAP_MS } from "./disk-rounds.ts";
import { reportAttempt } from "./endpoint-health.ts";
import { type EndpointLane, isOrdered } from "./endpoint-lane.ts";
import { Intake } from "./intake.ts";
import { bypassesCircuit, type Job } from "./job.ts";
import { LANE_MAX, Lanes, RUNNING_MAX } from "./lanes.ts";
import { LookTimer, POLL_MS } from "./look-timer.ts";
import type { AttemptResult } from "./outcome.ts";
import { WrittenRevisions } from "./written-revisions.ts";

export type DelivererDeps = AttemptDeps & {
  readonly views: ViewStore;
  readonly onAttempt?: (attempt: AttemptReport) => void;
  readonly onChanged?: (eventId: string, known: StreamState<Delivery>) => void;
};

const STOP_POLL_MS = 10;

/** True if the receiver works and refuses this one event, so that the next probe may send another event. */
const isRefusal = ({ statusCode, retryAt }: AttemptResult): boolean =>
  statusCode !== null && statusCode >= 400 && statusCode < 500 && statusCode !== 408 && retryAt === null;

const attemptedOf = (job: Job, { end, trace: { trace_id } }: SentAttempt): AttemptReport => {
  const { number, status_code, duration_ms: ms } = end.end;
  const outcome = end.type === "Succeed" ? "succeeded" : end.failure.kind;
  return { trace_id, event_id: job.eventId, endpoint_id: job.endpointId, number, outcome, status_code, ms };
};

/** The outcome of an attempt is recorded while the endpoint's next attempt is under way. */
export class Deliverer {
  readonly #deps: DelivererDeps;
  readonly #lanes: Lanes;
  readonly #looks: LookTimer;
  readonly #intake: Intake;
  readonly #rounds: DiskRounds;
  readonly #attempts: Attempts;
  readonly #written = new WrittenRevisions();
  /** How many attempts are being recorded. Counted, because a set of promises would keep what they refer to too long. */
  #recording = 0;
  #isStarted = false;
  #isStopping = false;
  #stopHearing: () => void = () => undefined;

  constructor(deps: DelivererDeps) {
    const { clock, timers = systemTimers } = deps;
    const lanes = new Lanes(clock, timers);
    const looks = new LookTimer(clock, timers, () => void this.#look());
    const intake = new Intake({ lanes, looks, clock });
    const backlog = new Backlog({ ...deps, written: this.#written });
    this.#deps = deps;
    this.#lanes = lanes;
    this.#looks = looks;
    this.#intake = intake;
    this.#rounds = new DiskRounds({ ...deps, lanes, looks, intake, backlog });
    this.#attempts = new Attempts(deps);
  }

  /** A job that is not taken is found on disk later. */
  offer(job: Job): void {
    const position = bypassesCircuit(job) ? undefined : job.known?.position;
    const lane = this.#lanes.find(job.endpointId);
    if (lane === undefined || position === undefined) this.#queue([job]);
    else this.#queue(lane.admissions.add({ job, position }));
  }

  /**
   * Takes the lease of a delivery's first attempt before its admission is appended, so that both are one append. Null
   * whenever anything is not at hand; the admission then offers the job after its append. The lease of an ordered
   * endpoint has no records, because only the append decides which of two admissions comes first.
   */
  lease(job: LeasableJob, admitted: Delivery): AdmissionLease | null {
    if (this.#isStopping || !this.#isStarted) return null;
    const lane = this.#lanes.find(job.endpointId);
    if (lane?.seen && isOrdered(lane.seen)) return this.#inOrder(lane, job, admitted);
    const endpoint = this.#endpointAtHand(lane);
    if (lane === undefined || endpoint === null || this.#isFull()) return null;
    if (!this.#lanes.mayBegin(lane, job.eventId)) return null;
    const start = this.#attempts.start(job, admitted, endpoint);
    // Room is asked for last, because it counts as the start of a request for the endpoint's rate.
    if (start === null || !this.#hasRoom(lane)) return null;
    this.#lanes.begin(lane, job);
    const { records, state } = start;
    return endedOnce({
      records,
      state,
      begin: (appended) => void this.#work(job, this.#send(start, appended)),
      cancel: () => this.#free(job),
    });
  }

  start(): void {
    this.#isStarted = true;
    this.#looks.start();
    this.#rounds.start();
    this.#stopHearing = this.#deps.log.onAppended(() => this.#rounds.appended());
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#stopHearing();
    this.#looks.stop();
    const deadline = Date.now() + graceMs;
    while (this.#isBusy() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, STOP_POLL_MS));
  }

  isSending(eventId: string): boolean {
    return this.#lanes.isRunning(eventId);
  }

  wake(): void {
    this.#looks.lookIn(0);
  }

  healthy(): boolean {
    return this.#rounds.healthy();
  }

  #queue(jobs: readonly Job[]): void {
    if (this.#isStopping || !this.#isStarted) return;
    let isAny = false;
    for (const job of jobs) isAny = (this.#intake.mayQueue(job) && this.#lanes.put(job)) || isAny;
    if (isAny) this.#pump();
  }

  #inOrder({ admissions }: EndpointLane, job: Job, admitted: Delivery): AdmissionLease {
    const open = admissions.open();
    return endedOnce({
      records: [],
      state: admitted,
      begin: ({ revision, position }) => {
        const known = { state: admitted, revision, position };
        this.#queue(admissions.close(open, { job: { ...job, known }, position }));
      },
      cancel: () => this.#queue(admissions.close(open, null)),
    });
  }

  #isBusy(): boolean {
    return this.#lanes.running > 0 || this.#recording > 0 || this.#rounds.isLooking;
  }

  async #look(): Promise<void> {
    await this.#rounds.look();
    this.#pump();
  }

  #pump(): void {
    while (!this.#isStopping && !this.#isFull()) {
      const job = this.#lanes.take((lane) => this.#hasRoom(lane));
      if (job === null) return;
      void this.#work(job, this.#attempt(job));
    }
  }

  #isFull(): boolean {
    return this.#lanes.running + this.#recording >= RUNNING_MAX;
  }

  /** Neither an endpoint nor an account may take more requests than it leaves to the others. */
  #hasRoom(lane: EndpointLane): boolean {
    if (this.#lanes.runningOf(lane.account) >= RUNNING_MAX - this.#lanes.running) return false;
    return lane.pace.mayBegin(lane.seen, lane.running, () => {
      this.#lanes.wake(lane);
      this.#pump();
    });
  }

  async #work(job: Job, attempt: Promise<SentAttempt | null>): Promise<void> {
    const sent = await attempt.catch((error: unknown) => {
      this.#deps.onError(error);
      this.#looks.lookIn(POLL_MS);
      return null;
    });
    if (sent !== null) this.#track(this.#settle(job, sent).catch(this.#deps.onError));
    this.#free(job);
  }

  #free(job: Job): void {
    const lane = this.#lanes.find(job.endpointId);
    const isDrained = lane?.hasMoreOnDisk === true && lane.waiting.length < LANE_MAX / 2;
    this.#lanes.done(job);
    if (isDrained) this.#looks.lookIn(LOOK_GAP_MS);
    this.#pump();
  }

  /** The endpoint, if it is known to take deliveries without reading anything. */
  #endpointAtHand(lane: EndpointLane | undefined): PresentEndpoint | null {
    if (lane === undefined || lane.seen === null || !takesDeliveries(lane.seen)) return null;
    const known = this.#deps.aggregates.atHand(endpointDecider, `endpoint-${lane.endpointId}`);
    // A state that the lane has not seen is first noticed by an attempt, which then does more than send.
    return known?.state === lane.seen ? lane.seen : null;
  }

  async #attempt(job: Job): Promise<SentAttempt | null> {
    const { known, ...unread } = job;
    const endpoint = this.#endpointAtHand(this.#lanes.find(job.endpointId));
    const whole = leasable(job);
    const start = endpoint && known && whole && this.#attempts.start(whole, known.state, endpoint);
    if (start && known) {
      const attempt = await this.#attempts.beginAtHand(start, known);
      return attempt === undefined ? this.#attempt(unread) : this.#sentBy(job, attempt);
    }
    const { state } = await this.#deps.aggregates.load(endpointDecider, `endpoint-${job.endpointId}`);
    if (!this.#intake.maySend(job, state)) return null;
    return this.#sentBy(job, await this.#attempts.begin(job, state));
  }

  async #send(start: DecidedStart, appended: Parameters<AdmissionLease["begin"]>[0]): Promise<SentAttempt | null> {
    return this.#sentBy(start.job, await this.#attempts.sendStarted(start, appended));
  }

  #sentBy(job: Job, attempt: NotSent | SentAttempt): SentAttempt | null {
    if (attempt.outcome === "sent") return attempt;
    if (attempt.outcome === "unsent") this.#changed(job, attempt.known);
    return null;
  }

  #track(recorded: Promise<void>): void {
    this.#recording += 1;
    recorded.then(() => {
      this.#recording -= 1;
      this.#pump();
    });
  }

  async #settle(job: Job, sent: SentAttempt): Promise<void> {
    const { onAttempt, onError } = this.#deps;
    const judged = sent.concernsEndpoint ? this.#judge(job, sent).catch(onError) : null;
    onAttempt?.(attemptedOf(job, sent));
    const known = await sent.record();
    this.#changed(job, known);
    await judged;
  }

  async #judge(job: Job, { result, trace }: SentAttempt): Promise<void> {
    const { account, endpointId, eventId } = job;
    const lane = this.#lanes.of(job);
    if (job.kind === "probe") lane.refusedProbe = isRefusal(result) ? eventId : null;
    const report = reportAttempt(lane, result);
    if (report === null) return;
    const { command, expected } = report;
    // An endpoint that this attempt closes gets nothing more, even before the closing is recorded.
    if (expected.phase === "present" && !takesDeliveries(expected)) this.#intake.see(endpointId, expected);
    const { aggregates, randomness } = this.#deps;
    const commandId = randomId("cmd_", randomness);
    const envelope = systemEnvelope({ actor: "deliverer", commandId, account, trace, at: command.at });
    const { state } = await aggregates.handle(endpointDecider, `endpoint-${endpointId}`, command, envelope);
    if (state.phase === "present") this.#intake.see(endpointId, state);
  }

  #changed({ eventId }: Job, known: StreamState<Delivery>): void {
    this.#written.note(eventId, known);
    this.#deps.onChanged?.(eventId, known);
    const nextAt = attemptableAt(known.state);
    if (nextAt !== null) this.#looks.lookAt(Date.parse(nextAt));
  }
}
