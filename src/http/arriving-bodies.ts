import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { networkOf } from "../../infra/http/network.ts";
import { Shares } from "../../infra/shares.ts";
import { problem } from "../streams/problems.ts";
import { readBody } from "./counted-body.ts";
import { BODY_SILENCE_MS } from "./limits.ts";
import { ProblemError } from "./problem-error.ts";

/** Limits the bytes of incomplete bodies of callers with a credential; those of other callers have the limit below. */
const KNOWN_BYTES_MAX = 32 * 1_048_576;
const STRANGERS_BYTES_MAX = 8 * 1_048_576;

const noRoom = (): ProblemError =>
  new ProblemError(
    problem("overloaded", "Too many bodies are arriving at once. Repeat the request in a second.", { retryAfterS: 1 }),
  );

/**
 * Reads the bodies of API calls, and limits the bytes of those that are incomplete. Accounts share one such limit, and
 * the networks of callers without a credential share another, so that strangers cannot take the accounts' memory.
 */
export class ArrivingBodies {
  readonly #known = new Shares(KNOWN_BYTES_MAX);
  readonly #strangers = new Shares(STRANGERS_BYTES_MAX);

  read(
    { principal, ip }: Pick<FastifyRequest, "principal" | "ip">,
    raw: IncomingMessage,
    bytesMax: number,
    done: (error: Error | null, body?: Buffer) => void,
  ): void {
    const room = principal === null ? this.#strangers : this.#known;
    const party = [principal === null ? networkOf(ip) : principal.account];
    let taken = 0;
    const take = (bytes: number): boolean => {
      if (!room.take(party, bytes)) return false;
      taken += bytes;
      return true;
    };
    readBody(raw, { bytesMax, silenceMs: BODY_SILENCE_MS, take }, (error, body) => {
      room.give(party, taken);
      if (error !== null || body === undefined) done(error);
      else if (body === null) done(noRoom());
      else done(null, body);
    });
  }
}
