import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { PayloadEvent } from "../domain/delivery/events.ts";
import type { EventLog, Expected, Randomness, Revision } from "../domain/ports.ts";
import { type Envelope, toEvents } from "./envelope.ts";
import { appendKnown } from "./run-command.ts";

type Kept = Extract<PayloadEvent, { type: "PayloadKept" }>["data"];

/** What came in: the exact bytes, and the headers with secrets already redacted. */
export type Incoming = {
  readonly body: Buffer;
  readonly contentType: string;
  /** Empty for none. */
  readonly contentEncoding: string;
  readonly headers: Readonly<Record<string, string>>;
};

export type KeptPayload = { readonly revision: Revision; readonly sha256: string };

const SALT_BYTES = 16;
/** A stream holds a payload, seldom a second one, and a response an attempt. */
const READ_PAGE = 100;

export const payloadStream = (eventId: string): string => `payload-${eventId}`;

/** Hex SHA-256 over salt and body: says nothing about the body once the salt is erased with it. */
export const payloadDigest = (salt: Uint8Array, body: Uint8Array): string =>
  createHash("sha256").update(salt).update(body).digest("hex");

/** Text where that gives the same bytes back, as it is shorter and can be read in the log. */
export const encodeBody = (body: Buffer): { readonly encoding: "text" | "base64"; readonly body: string } =>
  isUtf8(body)
    ? { encoding: "text", body: body.toString("utf8") }
    : { encoding: "base64", body: body.toString("base64") };

export const decodeBody = (kept: { readonly encoding: "text" | "base64"; readonly body: string }): Buffer =>
  Buffer.from(kept.body, kept.encoding === "text" ? "utf8" : "base64");

/** Left out for none, as most bodies come. */
export const contentEncodingField = (contentEncoding: string): { readonly content_encoding?: string } =>
  contentEncoding === "" ? {} : { content_encoding: contentEncoding };

export type Payloads = {
  /** Keeps an event's first payload durably; null when a request before this one got at least so far. */
  keepFirst(eventId: string, incoming: Incoming, envelope: Envelope): Promise<KeptPayload | null>;
  /** Finds the same payload kept before, or keeps this one beside it: only for an event that is not admitted. */
  keepAgain(eventId: string, incoming: Incoming, envelope: Envelope): Promise<KeptPayload>;
  /** The payload at a revision of its stream; null when it was erased. */
  read(eventId: string, revision: Revision): Promise<Kept | null>;
};

export const payloads = (log: EventLog, randomness: Randomness): Payloads => {
  const kept = async (eventId: string): Promise<{ revision: Revision; payload: Kept }[]> => {
    const found: { revision: Revision; payload: Kept }[] = [];
    for (let after: Revision | null = null; ; ) {
      const page = await log.read(payloadStream(eventId), after, READ_PAGE);
      for (const event of page) {
        // `payload-evt_` streams hold PayloadEvents alone.
        if (event.type === "PayloadKept") found.push({ revision: event.revision, payload: event.data as Kept });
        after = event.revision;
      }
      if (page.length < READ_PAGE) return found;
    }
  };

  const keepAt = async (
    eventId: string,
    expected: Exclude<Expected, "any">,
    incoming: Incoming,
    envelope: Envelope,
  ): Promise<KeptPayload | { readonly actual: Revision | "absent" }> => {
    const salt = Buffer.from(randomness.bytes(SALT_BYTES));
    const data: Kept = {
      event_id: eventId,
      salt: salt.toString("base64"),
      content_type: incoming.contentType,
      ...contentEncodingField(incoming.contentEncoding),
      ...encodeBody(incoming.body),
      headers: incoming.headers,
    };
    const events = toEvents([{ type: "PayloadKept", data }], envelope);
    const appended = await appendKnown(log, payloadStream(eventId), expected, events);
    if (appended.outcome === "conflict") return { actual: appended.actual };
    return { revision: appended.revision, sha256: payloadDigest(salt, incoming.body) };
  };

  return {
    async keepFirst(eventId, incoming, envelope) {
      const first = await keepAt(eventId, "absent", incoming, envelope);
      return "sha256" in first ? first : null;
    },

    async keepAgain(eventId, incoming, envelope) {
      let expected: Exclude<Expected, "any"> = "absent";
      for (;;) {
        for (const { revision, payload } of await kept(eventId)) {
          const body = decodeBody(payload);
          if (!body.equals(incoming.body)) continue;
          return { revision, sha256: payloadDigest(Buffer.from(payload.salt, "base64"), body) };
        }
        const added = await keepAt(eventId, expected, incoming, envelope);
        if ("sha256" in added) return added;
        expected = added.actual;
      }
    },

    async read(eventId, revision) {
      const [event] = await log.read(payloadStream(eventId), revision === 0 ? null : revision - 1, 1);
      return event?.revision === revision && event.type === "PayloadKept" ? (event.data as Kept) : null;
    },
  };
};
