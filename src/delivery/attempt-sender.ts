import type { KeptExchange } from "../../domain/delivery/attempt-end.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { Delivery } from "../../domain/delivery/state.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { GroupedAppend } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import type { HttpSender, SendOutcome } from "../../domain/ports/sender.ts";
import { AppendTooLarge } from "../../infra/log-errors.ts";
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

const withKept = (end: EndAttempt, kept: KeptExchange | null): EndAttempt => {
  if (kept === null) return end;
  return end.type === "Succeed" ? { ...end, end: { ...end.end, kept } } : { ...end, end: { ...end.end, kept } };
};

export type SentAttempt = {
  readonly outcome: "sent";
  readonly result: AttemptResult;
  /** False if the answer came from a former target or our resolver failed, which says nothing about the endpoint. */
  readonly concernsEndpoint: boolean;
  readonly end: EndAttempt;
  readonly trace: Trace;
  /** Records the outcome; may be called once. Retries for a while, then rejects with the log's errors. */
  record(): Promise<StreamState<Delivery>>;
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
    const outgoing = { job, endpoint, number, contentType, contentEncoding, body, trace, nowMs, request };
    try {
      return this.#deps.outbound.headers(outgoing);
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
  ): Promise<StreamState<Delivery>> {
    const { job, known, trace } = leased;
    const { onError } = this.#deps;
    const envelope = this.#writer.envelope(job.account, trace);
    const responseEnvelope = { ...envelope, commandId: `${envelope.commandId}/response` };
    const exchange = { job, known, sent, headers };
    const atHand = this.#responses.atHand(exchange, responseEnvelope);
    const together =
      atHand === null ? null : await this.#appendBoth(leased, withKept(end, atHand.form.kept), envelope, atHand.append);
    if (together !== null) return together;
    const store = this.#responses.storing(exchange, responseEnvelope, atHand?.form);
    const storedOrNot = () =>
      store().catch((error: unknown) => {
        // Only a response that no log takes is left out: after any other error both are tried again.
        if (!(error instanceof AppendTooLarge)) throw error;
        onError(error);
        return null;
      });
    const ran = await withRetries(async () => this.#writer.run(leased, withKept(end, await storedOrNot()), envelope));
    return ran.known;
  }

  /**
   * Appends the response and the outcome as one group. The outcome, for which an agent waits, follows the response,
   * because it commits to it. Whatever is not appended, or not known to be, is appended by itself with the same ids,
   * which the log recognises: null then.
   */
  async #appendBoth(
    { job, known }: LeasedJob,
    end: EndAttempt,
    envelope: Envelope,
    response: GroupedAppend,
  ): Promise<StreamState<Delivery> | null> {
    const decision = delivery.decide(end, known.state);
    if (!decision.ok || known.revision === null) return null;
    const events = toEvents(decision.events, envelope);
    const outcome = { stream: `delivery-${job.eventId}`, expected: known.revision, events, follows: [0] };
    try {
      const [, ended] = await this.#deps.log.appendGroup([response, outcome]);
      if (ended?.outcome !== "appended") return null;
      const { revision, position } = ended;
      return { state: decision.events.reduce(delivery.evolve, known.state), revision, position };
    } catch {
      return null;
    }
  }
}
