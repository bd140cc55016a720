import { delivery } from "../../domain/delivery/decider.ts";
import type { Delivery } from "../../domain/delivery/state.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { GroupedAppend } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import type { HttpSender, SendOutcome } from "../../domain/ports/sender.ts";
import { type Envelope, type Trace, toEvents } from "../streams/envelope.ts";
import type { StreamState } from "../streams/run-command.ts";
import { DeliveryWriter, withRetries } from "./delivery-writer.ts";
import type { LeasedJob } from "./loaded-job.ts";
import type { Outbound } from "./outbound.ts";
import { type AttemptResult, type EndAttempt, endCommand, REQUEST_NOT_MADE, resultOf } from "./outcome.ts";
import { ResponseStore, type ResponseStoreDeps } from "./response-store.ts";

export type AttemptSenderDeps = ResponseStoreDeps & {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly sender: HttpSender;
  readonly outbound: Outbound;
  readonly onError: (error: unknown) => void;
};

/** `response` resolves when the receiver's response is stored, or could not be; it never rejects. */
export type RecordedAttempt = { readonly known: StreamState<Delivery>; readonly response: Promise<void> };

/** `known` is null if the outcome was not appended. */
type AppendedTogether = { readonly isStored: boolean; readonly known: StreamState<Delivery> | null };

const NEITHER: AppendedTogether = { isStored: false, known: null };
const DONE = Promise.resolve();

export type SentAttempt = {
  readonly outcome: "sent";
  readonly result: AttemptResult;
  /** False if the answer came from a former target or our resolver failed, which says nothing about the endpoint. */
  readonly concernsEndpoint: boolean;
  readonly end: EndAttempt;
  readonly trace: Trace;
  /** Records the outcome; may be called once. Retries for a while, then rejects with the log's errors. */
  record(): Promise<RecordedAttempt>;
};

export class AttemptSender {
  readonly #deps: AttemptSenderDeps;
  readonly #responses: ResponseStore;
  readonly #writer: DeliveryWriter;

  constructor(deps: AttemptSenderDeps) {
    this.#deps = deps;
    this.#responses = new ResponseStore(deps);
    this.#writer = new DeliveryWriter(deps);
  }

  async send(leased: LeasedJob): Promise<SentAttempt> {
    const { job, known, trace, body, endpoint, isFormerTarget, startedAt } = leased;
    const { clock, randomness, sender } = this.#deps;
    const headers = this.#headers(leased);
    const { url, timeout_ms: timeoutMs } = endpoint.settings;
    const { account } = job;
    const sent = headers === null ? REQUEST_NOT_MADE : await sender.send({ account, url, headers, body, timeoutMs });
    const result = resultOf(sent, startedAt, clock.now());
    const request = { job, state: known.state, endpoint, isFormerTarget, sent, result };
    const end = endCommand(request, () => randomness.number());
    return {
      outcome: "sent",
      result,
      concernsEndpoint: !isFormerTarget && (sent.outcome === "answered" || sent.resolverFailed !== true),
      end,
      trace,
      record: () => this.#record(leased, end, sent, headers ?? {}),
    };
  }

  /** Returns null if the request cannot be made; the attempt then fails, so that the event has an end. */
  #headers({ job, known, trace, body, endpoint, startedAt: nowMs }: LeasedJob): Record<string, string> | null {
    const { request, attempts: number } = known.state;
    const { contentType = request.payload.content_type } = job;
    const contentEncoding = job.contentEncoding ?? request.payload.content_encoding ?? "";
    const content = { contentType, contentEncoding, body };
    try {
      return this.#deps.outbound.headers({ job, endpoint, number, ...content, trace, nowMs, request });
    } catch (error) {
      this.#deps.onError(error);
      return null;
    }
  }

  async #record(
    leased: LeasedJob,
    end: EndAttempt,
    sent: SendOutcome,
    headers: Record<string, string>,
  ): Promise<RecordedAttempt> {
    const { job, known, trace } = leased;
    const { onError } = this.#deps;
    const envelope = this.#writer.envelope(job.account, trace);
    const responseEnvelope = { ...envelope, commandId: `${envelope.commandId}/response` };
    const exchange = { job, known, sent, headers };
    // The outcome is what an agent waits for, so its response is stored before the outcome is recorded.
    const isAgents = known.state.request.origin.kind === "agent";
    const atHand = isAgents ? null : this.#responses.atHand(exchange, responseEnvelope);
    const together = atHand === null ? NEITHER : await this.#appendBoth(leased, end, envelope, atHand.append);
    const store = this.#responses.storing(exchange, responseEnvelope, atHand?.form);
    if (isAgents) await withRetries(store).catch(onError);
    const response = isAgents || together.isStored ? DONE : store().catch(onError);
    if (together.known !== null) return { known: together.known, response };
    const ran = await withRetries(() => this.#writer.run(leased, end, envelope));
    return { known: ran.known, response };
  }

  /**
   * Appends the response and the outcome as one group, in which neither depends on the other. Whatever is not appended,
   * or not known to be, is appended by itself with the same ids, which the log recognises.
   */
  async #appendBoth(
    { job, known }: LeasedJob,
    end: EndAttempt,
    envelope: Envelope,
    response: GroupedAppend,
  ): Promise<AppendedTogether> {
    const decision = delivery.decide(end, known.state);
    if (!decision.ok || known.revision === null) return NEITHER;
    const events = toEvents(decision.events, envelope);
    const outcome = { stream: `delivery-${job.eventId}`, expected: known.revision, events, follows: [] };
    try {
      const [stored, ended] = await this.#deps.log.appendGroup([response, outcome]);
      const isStored = stored?.outcome === "appended";
      if (ended?.outcome !== "appended") return { isStored, known: null };
      const { revision, position } = ended;
      return { isStored, known: { state: decision.events.reduce(delivery.evolve, known.state), revision, position } };
    } catch {
      return NEITHER;
    }
  }
}
