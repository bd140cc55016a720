import { createHash } from "node:crypto";
import type { ActiveDelivery } from "../../domain/delivery/state.ts";
import type { EventLog, Expected } from "../../domain/ports/event-log.ts";
import type { SendOutcome } from "../../domain/ports/sender.ts";
import { isErasedSince } from "../erasure/erasures.ts";
import type { ByteAllowances, TakenBytes } from "../ledgers/byte-allowances.ts";
import { redactHeaders } from "../providers/redact.ts";
import { type Envelope, toEvents } from "../streams/envelope.ts";
import type { ResponseKept } from "../streams/exchanges.ts";
import { encodeBody, headerBytes, payloadStream } from "../streams/payloads.ts";
import type { StreamState } from "../streams/run-command.ts";
import type { JobKey } from "./job.ts";
import type { Outbound } from "./outbound.ts";

export type KeepingResponsesDeps = {
  readonly log: EventLog;
  readonly outbound: Pick<Outbound, "shown">;
  readonly allowances: Pick<ByteAllowances, "take">;
};

/** May be called again after an error: the append is the same. Rejects with the log's errors. */
export type KeepResponse = () => Promise<void>;

/** Bytes of a body, and of its headers, that are stored after `stored_bytes_day` is used up: most have no more. */
export const RESPONSE_HEAD_BYTES = 1_024;

const TYPE_MAX = 256;

const headersOfHead = (headers: ResponseKept["headers"]): ResponseKept["headers"] => {
  if (headerBytes(headers) <= RESPONSE_HEAD_BYTES) return headers;
  const { "content-type": type = "" } = headers;
  return type === "" || type.length > TYPE_MAX ? {} : { "content-type": type };
};

export const keepingResponses = ({ log, outbound, allowances }: KeepingResponsesDeps) => {
  /** Takes the bytes from the account's allowance; without them only the head is stored. */
  const formOf = async (
    account: string,
    body: Buffer,
    whole: Omit<ResponseKept, "encoding" | "body">,
  ): Promise<{ readonly data: ResponseKept; readonly taken: TakenBytes | null }> => {
    const bytes = body.length + headerBytes(whole.headers) + headerBytes(whole.request_headers);
    const taken = bytes === 0 ? null : await allowances.take(account, "stored", bytes);
    if (taken !== null || bytes === 0) return { data: { ...whole, ...encodeBody(body) }, taken };
    const head = body.subarray(0, RESPONSE_HEAD_BYTES);
    const data = {
      ...whole,
      ...encodeBody(head),
      headers: headersOfHead(whole.headers),
      request_headers: headersOfHead(whole.request_headers),
      truncated: whole.truncated || head.length < body.length,
      head: { size: body.length, sha256: createHash("sha256").update(body).digest("hex") },
    };
    return { data, taken };
  };

  /** An erasure takes a revision of this stream after its own record, so an append after it conflicts and finds it. */
  return (
    { eventId, account }: Pick<JobKey, "eventId" | "account">,
    { state: { attempts: number, request }, revision: started }: StreamState<ActiveDelivery>,
    { sent, headers }: { readonly sent: SendOutcome; readonly headers: Record<string, string> },
    envelope: Envelope,
  ): KeepResponse => {
    const answered = sent.outcome === "answered";
    const whole = {
      event_id: eventId,
      number,
      headers: answered ? redactHeaders(sent.headers) : {},
      truncated: answered && sent.truncated,
      request_headers: outbound.shown(headers),
    };
    // The first try expects the payload's revision, because an erasure may have taken any later one.
    let expected: Exclude<Expected, "any"> = request.payload.revision;
    let form: ReturnType<typeof formOf> | null = null;
    return async () => {
      form ??= formOf(account, Buffer.from(answered ? sent.body : ""), whole);
      const { data, taken } = await form.catch((error: unknown) => {
        form = null;
        throw error;
      });
      const events = toEvents([{ type: "ResponseKept", data }], envelope);
      for (;;) {
        const appended = await log.append(payloadStream(eventId), expected, events);
        if (appended.outcome === "appended") return;
        if (await isErasedSince(log, eventId, started)) {
          taken?.giveBack();
          return;
        }
        expected = appended.actual;
      }
    };
  };
};
