import type { PresentSource } from "../../../domain/source/decider.ts";
import { BareExchange, type BareParts, type BareRoute } from "../../http/bare-exchange.ts";
import type { BareHandler } from "../../http/bare-handlers.ts";
import { SMALL_BYTES } from "../../http/byte-rate.ts";
import { arrivedBody, readBody } from "../../http/counted-body.ts";
import { isPlainPost } from "../../http/plain-request.ts";
import type { PositionText } from "../../http/position-text.ts";
import { type Answer, isProblem } from "../../http/route.ts";
import { goOn, type OrPromise } from "../../streams/or-promise.ts";
import type { Problem } from "../../streams/problems.ts";
import { overloaded, type Share, type WebhookAddress, type WebhookIntake } from "./webhook-intake.ts";

/** Matches the paths in which Fastify's router would decode nothing. */
const PATH = /^\/v1\/webhooks\/([a-z0-9_-]{1,64})\/([a-z0-9_-]{1,64})$/;

type BareIngestParts = {
  readonly parts: BareParts;
  readonly positions: Pick<PositionText, "of">;
  readonly route: Omit<BareRoute, "params">;
};

type Taken = {
  readonly share: Share;
  readonly address: WebhookAddress;
  readonly source: PresentSource | undefined;
  /** Null if there was no room for the body. */
  readonly bytes: Buffer | null;
};

/** Takes small webhooks without Fastify, whose hooks and objects cost a tenth of an admission. */
class BareIngest {
  readonly #intake: WebhookIntake;
  readonly #positions: Pick<PositionText, "of">;

  constructor(intake: WebhookIntake, positions: Pick<PositionText, "of">) {
    this.#intake = intake;
    this.#positions = positions;
  }

  /** Waits for nothing but the source, where it is not at hand, the rest of the body, and the decision. */
  take(exchange: BareExchange, address: WebhookAddress): void {
    try {
      const answer = goOn(this.#intake.sourceOf(address), (source) => this.#answerTo(exchange, address, source));
      if (!(answer instanceof Promise)) this.#answer(exchange, answer);
      else answer.then((it) => this.#answer(exchange, it)).catch((error: unknown) => exchange.error(error));
    } catch (error) {
      exchange.error(error);
    }
  }

  #answer(exchange: BareExchange, answer: Answer | Problem): void {
    if (isProblem(answer)) exchange.problem(answer);
    else
      exchange.answer(
        answer.status,
        answer.body,
        answer.position === undefined ? null : this.#positions.of(answer.position),
      );
  }

  #answerTo(
    exchange: BareExchange,
    address: WebhookAddress,
    source: PresentSource | Problem,
  ): OrPromise<Answer | Problem> {
    if ("problem" in source) return source;
    const { request, ip } = exchange;
    // Nothing more arrives of a client that has disconnected meanwhile, not even an event that says so.
    if (request.destroyed) return overloaded;
    const share = this.#intake.begin(address.source_id, source.account, ip);
    const leave = (): void => share.body.leave();
    try {
      const arrived = arrivedBody(request);
      const body = arrived === null ? this.#restOf(exchange, share) : this.#taken(arrived, share);
      // A source may be paused while the rest of a body arrives.
      const known = arrived === null ? undefined : source;
      const answer = goOn(body, (bytes) => this.#decide(exchange, { share, address, source: known, bytes }));
      if (answer instanceof Promise) return answer.finally(leave);
      leave();
      return answer;
    } catch (error) {
      leave();
      throw error;
    }
  }

  #decide({ request, ip, trace }: BareExchange, { share, address, source, bytes }: Taken): OrPromise<Answer | Problem> {
    if (bytes === null) return overloaded;
    const { provider, source_id: sourceId } = address;
    const { headers, rawHeaders, socket } = request;
    const webhook = { provider, sourceId, source, headers, rawHeaders, body: bytes, ip, trace };
    return this.#intake.decide(share, webhook, () => socket.destroyed);
  }

  /** Null if there is no room for the body. */
  #taken(body: Buffer, share: Share): Buffer | null {
    share.body.complete();
    return share.body.take(body.length) ? body : null;
  }

  #restOf(exchange: BareExchange, share: Share): Promise<Buffer | null> {
    return new Promise((resolve, reject) => {
      share.forget = readBody(exchange.request, this.#intake.bodyLimits(share), (error, body) => {
        if (error === null) return resolve(body ?? null);
        exchange.leaveBody();
        reject(error);
      });
    });
  }
}

export const bareIngest = (intake: WebhookIntake, { parts, positions, route }: BareIngestParts): BareHandler => {
  const bare = new BareIngest(intake, positions);
  const { url, config } = route;
  const take = (exchange: BareExchange, address: WebhookAddress): void => bare.take(exchange, address);
  return (request, response) => {
    const [, provider, sourceId] = PATH.exec(request.url ?? "") ?? [];
    if (provider === undefined || sourceId === undefined) return false;
    if (!isPlainPost(request, SMALL_BYTES) || !intake.hasRoom()) return false;
    const params = { provider, source_id: sourceId };
    const exchange = new BareExchange(parts, request, response, { url, config, params });
    // Node parses the body, which most often came in the same packet, when this handler has returned.
    process.nextTick(take, exchange, params);
    return true;
  };
};
