import { createHash } from "node:crypto";
import type { KeptExchange } from "../../domain/delivery/attempt-end.ts";
import { attemptId, headersId, payloadId } from "../../domain/evidence/commitment.ts";
import type { EventLog, Expected, GroupedAppend } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import type { SendOutcome } from "../../domain/ports/sender.ts";
import { isErasedSince } from "../erasure/erasures.ts";
import type { ByteAllowances, TakenBytes } from "../ledgers/byte-allowances.ts";
import { redactHeaders } from "../providers/redact.ts";
import { bytesOfExchange, commit, twoSalts } from "../streams/commitments.ts";
import { type Envelope, toEvents } from "../streams/envelope.ts";
import type { ResponseKept } from "../streams/exchanges.ts";
import { type Encoded, encodeBody } from "../streams/payload-encoding.ts";
import { headerBytes, payloadStream } from "../streams/payloads.ts";
import type { JobKey } from "./job.ts";
import type { ActiveJob } from "./loaded-job.ts";
import type { Outbound } from "./outbound.ts";

export type ResponseStoreDeps = {
  readonly log: EventLog;
  readonly randomness: Randomness;
  readonly outbound: Pick<Outbound, "shown">;
  readonly allowances: Pick<ByteAllowances, "take" | "takeAtHand">;
};

export type Exchange = Pick<ActiveJob, "known"> & {
  readonly job: Pick<JobKey, "eventId" | "account">;
  readonly sent: SendOutcome;
  readonly headers: Record<string, string>;
};

/** `kept` is what the record of the attempt's end says of `data`. */
export type ResponseForm = {
  readonly data: ResponseKept;
  readonly kept: KeptExchange;
  readonly taken: TakenBytes | null;
};

type Unsalted = Omit<ResponseKept, "salt" | "headers_salt">;

/** Bytes stored of a body, and of headers, after `stored_bytes_day` is used up: most responses have no more. */
export const RESPONSE_HEAD_BYTES = 1_024;

const TYPE_MAX = 256;
const NO_BODY = Buffer.alloc(0);

const bufferOf = (body: Uint8Array): Buffer => Buffer.from(body.buffer, body.byteOffset, body.byteLength);

const withBody = (whole: Omit<Unsalted, keyof Encoded>, bytes: Buffer): Unsalted => {
  const { encoding, body } = encodeBody(bytes);
  return { encoding, body, ...whole };
};

const headersOfHead = (headers: ResponseKept["headers"]): ResponseKept["headers"] => {
  if (headerBytes(headers) <= RESPONSE_HEAD_BYTES) return headers;
  const { "content-type": type = "" } = headers;
  return type !== "" && type.length <= TYPE_MAX ? { "content-type": type } : {};
};

export class ResponseStore {
  readonly #deps: ResponseStoreDeps;

  constructor(deps: ResponseStoreDeps) {
    this.#deps = deps;
  }

  /**
   * The function that is returned stores the response, and returns the commitments to it, or null after an erasure. It
   * rejects with the log's errors and may be called again. An erasure takes a later revision than the one expected here, so an append after it conflicts and finds the record of
   * the erasure.
   */
  storing(exchange: Exchange, envelope: Envelope, made: ResponseForm | null = null) {
    const { log } = this.#deps;
    const { job, known } = exchange;
    let expected: Exclude<Expected, "any"> = known.state.request.payload.revision;
    let form: Promise<ResponseForm> | null = made === null ? null : Promise.resolve(made);
    return async (): Promise<KeptExchange | null> => {
      form ??= this.#formOf(exchange);
      const { data, kept, taken } = await form.catch((error: unknown) => {
        form = null;
        throw error;
      });
      const events = toEvents([{ type: "ResponseKept", data }], envelope);
      for (;;) {
        const appended = await log.append(payloadStream(job.eventId), expected, events);
        if (appended.outcome === "appended") return kept;
        if (await isErasedSince(log, job.eventId, known.revision)) {
          taken?.giveBack();
          return null;
        }
        expected = appended.actual;
      }
    };
  }

  /** The first append of `storing`, if the response's bytes are at hand; null if bytes would have to be leased. */
  atHand(
    exchange: Exchange,
    envelope: Envelope,
  ): { readonly append: GroupedAppend; readonly form: ResponseForm } | null {
    const { whole, body, bytes } = this.#wholeOf(exchange);
    const { job, known } = exchange;
    const taken = bytes === 0 ? null : this.#deps.allowances.takeAtHand(job.account, "stored", bytes);
    if (taken === null && bytes > 0) return null;
    const form = this.#salted(exchange, withBody(whole, body), body, taken);
    const append = {
      stream: payloadStream(job.eventId),
      expected: known.state.request.payload.revision,
      events: toEvents([{ type: "ResponseKept", data: form.data }], envelope),
      follows: [],
    };
    return { append, form };
  }

  #wholeOf({ job, known, sent, headers }: Exchange) {
    const isAnswered = sent.outcome === "answered";
    const body = isAnswered ? bufferOf(sent.body) : NO_BODY;
    const whole = {
      event_id: job.eventId,
      number: known.state.attempts,
      headers: isAnswered ? redactHeaders(sent.headers) : {},
      truncated: isAnswered && sent.truncated,
      request_headers: this.#deps.outbound.shown(headers),
    };
    const bytes = body.length + headerBytes(whole.headers) + headerBytes(whole.request_headers);
    return { whole, body, bytes };
  }

  /** Takes the bytes from the account's `stored_bytes_day`; without them only the head is stored. */
  async #formOf(exchange: Exchange): Promise<ResponseForm> {
    const { job } = exchange;
    const { whole, body, bytes } = this.#wholeOf(exchange);
    const taken = bytes === 0 ? null : await this.#deps.allowances.take(job.account, "stored", bytes);
    if (taken !== null || bytes === 0) {
      return this.#salted(exchange, withBody(whole, body), body, taken);
    }
    const head = body.subarray(0, RESPONSE_HEAD_BYTES);
    const data = {
      ...whole,
      ...encodeBody(head),
      headers: headersOfHead(whole.headers),
      request_headers: headersOfHead(whole.request_headers),
      truncated: whole.truncated || head.length < body.length,
      head: { size: body.length, sha256: createHash("sha256").update(body).digest("hex") },
    };
    return this.#salted(exchange, data, head, taken);
  }

  /** `body`: the bytes that are stored. */
  #salted({ job, known }: Exchange, data: Unsalted, body: Buffer, taken: TakenBytes | null): ResponseForm {
    const [salt, headersSalt] = twoSalts(this.#deps.randomness);
    const id = attemptId(payloadId(job.eventId, known.state.request.payload.revision), data.number);
    const headers = commit(headersId(id), headersSalt, bytesOfExchange(data));
    const headers_salt = headersSalt.toString("base64");
    if (body.length === 0) return { data: { headers_salt, ...data }, kept: { headers }, taken };
    const kept = { headers, response: commit(id, salt, body) };
    return { data: { salt: salt.toString("base64"), headers_salt, ...data }, kept, taken };
  }
}
