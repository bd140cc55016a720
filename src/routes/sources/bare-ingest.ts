import type { Admission } from "../../admission/admission.ts";
import { BareExchange, type BareParts, type BareRoute } from "../../http/bare-exchange.ts";
import type { BareHandler } from "../../http/bare-handlers.ts";
import { SMALL_BYTES } from "../../http/byte-rate.ts";
import { arrivedBody, readBody } from "../../http/counted-body.ts";
import { isPlainPost } from "../../http/plain-request.ts";
import type { PositionText } from "../../http/position-text.ts";
import { isProblem } from "../../http/route.ts";
import { overloaded, type Share, type WebhookAddress, type WebhookIntake } from "./webhook-intake.ts";

/** Matches the paths in which Fastify's router would decode nothing. */
const PATH = /^\/v1\/webhooks\/([a-z0-9_-]{1,64})\/([a-z0-9_-]{1,64})$/;

type BareIngestParts = {
  readonly parts: BareParts;
  readonly positions: Pick<PositionText, "of">;
  readonly route: Omit<BareRoute, "params">;
};

/** Takes small webhooks without Fastify, whose hooks and objects cost a tenth of an admission. */
class BareIngest {
  readonly #intake: WebhookIntake;
  readonly #positions: Pick<PositionText, "of">;

  constructor(intake: WebhookIntake, positions: Pick<PositionText, "of">) {
    this.#intake = intake;
    this.#positions = positions;
  }

  async take(exchange: BareExchange, address: WebhookAddress): Promise<void> {
    try {
      const answer = await this.#answerTo(exchange, address);
      if (isProblem(answer)) return exchange.problem(answer);
      const { status, body, position } = answer;
      exchange.answer(status, body, position === undefined ? null : this.#positions.of(position));
    } catch (error) {
      exchange.error(error);
    }
  }

  async #answerTo(exchange: BareExchange, address: WebhookAddress): ReturnType<Admission> {
    const { request, ip, trace } = exchange;
    const { provider, source_id: sourceId } = address;
    const source = await this.#intake.sourceOf(address);
    if ("problem" in source) return source;
    // Nothing more arrives of a client that has disconnected meanwhile, not even an event that says so.
    if (request.destroyed) return overloaded;
    const share = this.#intake.begin(sourceId, source.account, ip);
    try {
      const arrived = arrivedBody(request);
      const body = arrived === null ? await this.#restOf(exchange, share) : this.#taken(arrived, share);
      if (body === null) return overloaded;
      const { headers, rawHeaders, socket } = request;
      const webhook = { provider, sourceId, headers, rawHeaders, body, ip, trace };
      return await this.#intake.decide(share, webhook, () => socket.destroyed);
    } finally {
      share.body.leave();
    }
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
  return (request, response) => {
    const [, provider, sourceId] = PATH.exec(request.url ?? "") ?? [];
    if (provider === undefined || sourceId === undefined) return false;
    if (!isPlainPost(request, SMALL_BYTES) || !intake.hasRoom()) return false;
    const params = { provider, source_id: sourceId };
    void bare.take(new BareExchange(parts, request, response, { ...route, params }), params);
    return true;
  };
};
