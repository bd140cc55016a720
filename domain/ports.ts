/** What the program needs from the outside, as types. Adapters live in `infra/`, one technology a folder. */

import type { Plan } from "./account/plans.ts";
import type { SubscriptionStatus } from "./account/subscription.ts";
import type { FailureKind, Timings } from "./delivery/events.ts";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** 0-based, without gaps inside a stream. */
export type Revision = number;
/** Opaque, of fixed width: two positions of one log compare as text. */
export type Position = string;
export type Expected = "absent" | "any" | Revision;

export type ActorKind = "member" | "key" | "agent" | "source" | "system";
export type Actor = { readonly kind: ActorKind; readonly id: string };

export type Metadata = {
  readonly account: string;
  readonly actor: Actor;
  readonly command_id: string;
  /** 32 and 16 lower-case hex characters (W3C Trace Context, section 3.2.2). */
  readonly trace_id: string;
  readonly span_id: string;
  /** The span of the caller that sent a `traceparent`, which `span_id` is below; missing when the trace began here. */
  readonly parent_span_id?: string;
  /** The id of the event that a process manager reacted to. */
  readonly causation_id: string | null;
  /** ISO-8601 UTC with milliseconds. */
  readonly recorded_at: string;
  readonly schema: number;
};

export type NewEvent = {
  /** A UUID, derived from the command and the index: the same append again carries the same ids. */
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly meta: Metadata;
};

export type RecordedEvent = NewEvent & {
  readonly stream: string;
  readonly revision: Revision;
  readonly position: Position;
};

export type Appended =
  | { readonly outcome: "appended"; readonly revision: Revision; readonly position: Position }
  | { readonly outcome: "conflict"; readonly actual: Revision | "absent" };

export type TypesPage = { readonly events: readonly RecordedEvent[]; readonly upTo: Position | null };

/**
 * The append-only log. Adapters throw `LogUnavailable` when nothing was written and `OutcomeUnknown` when that
 * cannot be known (`infra/log-errors.ts`): after the latter the same call, with the same ids and revision, is safe.
 */
export type EventLog = {
  /** Durable when it resolves; `revision` and `position` are those of the last event. A repeat is the same append. */
  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<Appended>;
  /** The next events of a stream behind `after`, at most `limit`; an empty page is its end. */
  read(stream: string, after: Revision | null, limit: number): Promise<readonly RecordedEvent[]>;
  last(stream: string): Promise<RecordedEvent | null>;
  /** The whole log in one total order, without gaps and without system events; "records" leaves out `payload-` streams. */
  readAll(after: Position | null, limit: number, what?: "everything" | "records"): Promise<readonly RecordedEvent[]>;
  /**
   * Of the log behind `after` the next events of these types, at most `limit`, for who needs only a few of all: `upTo` is
   * how far was looked, so where to go on; null when there was nothing behind `after`.
   */
  readTypes(types: readonly string[], after: Position | null, limit: number): Promise<TypesPage>;
  head(): Promise<Position | null>;
  /** Names this log, for ever: made with it, and not copied with its events, as another log's positions are others. */
  identity(): Promise<string>;
  /**
   * Removes what a `payload-` stream has up to and with `upTo`, or all of it; any other stream is a bug and throws. What
   * stands behind `upTo` stays, also what comes meanwhile. Erasing twice is erasing once.
   */
  erase(stream: string, upTo?: Revision): Promise<void>;
  /** A hint that may be lost; whoever follows the log polls as well. Returns how to stop listening. */
  onAppended(wake: () => void): () => void;
  close(): Promise<void>;
};

/** A document is plain JSON. The fields that a view declares are top-level, and are what it can be searched by. */
export type Document = JsonObject;

export type ViewSchema = {
  /** The collection's name with its version, as `events.v2`: a changed shape is a new view beside the old one. */
  readonly name: string;
  readonly fields: Readonly<Record<string, "text" | "number">>;
  /** Each a list of fields, equality first, then the sort; the document's id is always the last of them. */
  readonly indexes: readonly (readonly string[])[];
};

export type Condition = {
  readonly field: string;
  readonly is: "=" | "<" | "<=" | ">" | ">=";
  readonly value: string | number;
};

export type ViewQuery = {
  readonly where: readonly Condition[];
  readonly sort: { readonly field: string; readonly order: "asc" | "desc" };
  /** The sort value and id of the last document seen: the page begins behind it. */
  readonly after?: { readonly value: string | number; readonly id: string };
  /**
   * Of several conditions that have an index each, the field of the one that the fewest documents meet: a store that cannot
   * tell walks along it.
   */
  readonly lead?: string;
  readonly limit: number;
};

export type Found = { readonly id: string; readonly document: Document };

/** `isEmptied`: false while the drop that made the view this log's is under way, or when it did not come to its end. */
export type ViewOrigin = { readonly log: string; readonly isEmptied: boolean };

/** A document to fold on, and how far in the log it is folded; null where that is as far as the view's checkpoint. */
export type Loaded = { readonly document: Document | null; readonly position: Position | null };

/**
 * The read models. May lag, may be dropped and folded again; nothing is ever decided from it. Adapters throw
 * `ViewsUnavailable` (`infra/view-errors.ts`) when the storage fails: the same call may be made again.
 */
export type ViewStore = {
  get(view: string, id: string): Promise<Document | null>;
  getMany(view: string, ids: readonly string[]): Promise<ReadonlyMap<string, Document>>;
  page(view: string, query: ViewQuery): Promise<readonly Found[]>;
  /** How many match, counted up to `atMost`. */
  count(view: string, where: readonly Condition[], atMost: number): Promise<number>;
  position(view: string): Promise<Position | null>;
  /** Of which log the view is; null where nobody has said. */
  origin(view: string): Promise<ViewOrigin | null>;
  /**
   * What a fold from the checkpoint `after` begins with: each of the ids, with null where there is no document.
   * "stale" when the checkpoint is another. Where documents and checkpoint are not written together, a document may be
   * folded further than the checkpoint: events up to its position are in it already.
   */
  load(view: string, after: Position | null, ids: readonly string[]): Promise<ReadonlyMap<string, Loaded> | "stale">;
  /**
   * Documents (null removes) and checkpoint, if the checkpoint still is `after`; else nothing, and "stale". Each is what
   * the fold gives at `upTo`. An engine without transactions writes the first `leading` ones, then the others, then the
   * checkpoint: it may answer "stale", or fail, with some of them written, and who loads then sees which.
   */
  commit(
    view: string,
    after: Position | null,
    upTo: Position,
    documents: ReadonlyMap<string, Document | null>,
    leading?: number,
  ): Promise<"committed" | "stale">;
  /** Documents and checkpoint; the view is one of the log with this identity from now on. */
  drop(view: string, log: string): Promise<void>;
  close(): Promise<void>;
};

/**
 * One record for the world outside, as CloudEvents 1.0 has it (JSON event format, section 2; extension attributes are
 * lower-case). Source and id name a record for ever, whichever engine keeps it; `position` is this log's own.
 */
export type CloudEvent = {
  readonly specversion: "1.0";
  /** The record's. */
  readonly id: string;
  /** A URI reference: the account's stream. */
  readonly source: string;
  readonly type: string;
  /** The stream: events of one subject come in the order of their revisions. */
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: "application/json";
  readonly account?: string;
  readonly revision: Revision;
  readonly position: Position;
  readonly actorkind: ActorKind;
  readonly actorid: string;
  /** Of the extension for distributed tracing. */
  readonly traceparent?: string;
  /** Of the extension for correlation: the id of the event that was reacted to. */
  readonly causationid?: string;
  /** Left out only where it could not be carried; `dataref` (an extension as well) then says where it can be read. */
  readonly data?: JsonObject;
  readonly dataref?: string;
};

/** Whoever takes the records, outside of this program. */
export type Feed = {
  /**
   * Resolves when all are kept there, those of one subject in this order. Rejects when that is not known of all: some
   * may be kept, and publishing the same again is right.
   */
  publish(events: readonly CloudEvent[]): Promise<void>;
  close(): Promise<void>;
};

export type Clock = { readonly now: () => number };

export type Randomness = {
  readonly bytes: (size: number) => Uint8Array;
  /** In [0, 1). */
  readonly number: () => number;
};

export type HttpRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** For the whole exchange: name, connection, request and answer. */
  readonly timeoutMs: number;
  /** Gives the attempt up; its outcome is then unknown, as after a reset. */
  readonly signal?: AbortSignal;
};

/**
 * What came of one request. The status decides: whatever happens to the body behind it is no failure. `resent`: it went out
 * twice, as a kept-alive connection ended under it without an answer; what is said is of the second time.
 */
export type Sent = { readonly resent?: true } & (
  | {
      readonly outcome: "answered";
      /** 200 to 599. */
      readonly statusCode: number;
      /** Names in lower case, several values of one name joined by a comma. */
      readonly headers: Readonly<Record<string, string>>;
      /** As it came over the wire, never inflated. */
      readonly body: Uint8Array;
      /** The answer's body was longer than what is kept, or broke off. */
      readonly truncated: boolean;
      /** Of a Retry-After header that can be understood. */
      readonly retryAfterMs: number | null;
      readonly timings: Timings;
    }
  | {
      readonly outcome: "failed";
      readonly kind: FailureKind;
      readonly detail: string;
      readonly statusCode?: number;
      /** It ended before there was a connection to send it on. */
      readonly unsent?: true;
      readonly timings: Timings;
    }
);

/** One POST to a receiver. Never rejects: whatever happens is a value. */
export type HttpSender = {
  send(request: HttpRequest): Promise<Sent>;
  /** Waits for what is under way, at most `limitMs`, then ends it. */
  close(limitMs: number): Promise<void>;
};

export type SpanKind = "internal" | "server" | "client";
export type SpanAttribute = string | number | boolean;
export type SpanAttributes = Readonly<Record<string, SpanAttribute>>;

/** Something that took time, as OpenTelemetry has it (trace/api.md, "Span"). Times are ms since 1970. */
export type Span = {
  /** 32 and 16 lower-case hex characters. */
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the root of a trace that begins here. */
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  /** Why it is an error; null when it is none. */
  readonly error: string | null;
  readonly events: readonly SpanEvent[];
};

export type SpanEvent = { readonly name: string; readonly atMs: number; readonly attributes: SpanAttributes };

/** Where finished spans go. */
export type SpanExporter = {
  /**
   * Resolves when the collector has them. Rejects when it cannot be reached or asks to be spared for a moment: the same
   * spans may be sent again, and are the same by their ids. What it will never take is dropped and reported.
   */
  export(spans: readonly Span[]): Promise<void>;
  close(): Promise<void>;
};

/** Who pays, as the provider is told. */
export type Payer = {
  readonly account: string;
  readonly email: string;
  /** The member who asks. */
  readonly by: string;
  /** What this provider calls the account; null: it has no name there yet. */
  readonly customer: string | null;
};

/** A page on which a person buys, or changes what was bought. */
export type BillingPage = {
  readonly url: string;
  readonly sessionId: string;
  /** ISO-8601 UTC with milliseconds. */
  readonly expiresAt: string;
  /** What the provider calls the account; null where it needs no name for it. */
  readonly customer: string | null;
};

/** Whom a webhook is about. `reference` names it for ever. */
export type BillingNotice = {
  readonly reference: string;
  readonly customer: string;
  /** Where the webhook itself says which account the customer is. */
  readonly account: string | null;
};

/** What holds at the provider at the moment. */
export type ProvidedSubscription = {
  /** Null where the provider does not know any more which account the customer was. */
  readonly account: string | null;
  readonly plan: Plan["name"];
  readonly scheduled: { readonly plan: Plan["name"]; readonly from: string } | null;
  readonly status: SubscriptionStatus;
};

/**
 * A provider's webhooks. They come late, twice and in any order: each is only the occasion to ask what holds.
 */
export type BillingWebhooks = {
  /**
   * "forged" when the signature does not hold, "malformed" when it does and what it is of is no event; null when that is
   * about nothing that changes a subscription.
   */
  read(headers: Readonly<Record<string, unknown>>, body: Uint8Array): BillingNotice | null | "forged" | "malformed";
  /** "Cancelled": nothing holds, whether anything was bought before or not. Null: there is no such customer. */
  subscriptionOf(customer: string): Promise<ProvidedSubscription | null>;
};

/** Whoever takes the money. Adapters throw `BillingUnavailable` (`infra/billing/errors.ts`) when the provider does not answer. */
export type BillingProvider = {
  /** As the bill shows it, and in the address of its webhooks: POST /billing/<name>/webhook. */
  readonly name: string;
  startCheckout(
    payer: Payer,
    order: { readonly plan: Plan["name"]; readonly successUrl: string | null; readonly cancelUrl: string | null },
  ): Promise<BillingPage>;
  portal(payer: Payer, returnUrl: string | null): Promise<BillingPage>;
  /**
   * Tells of one begun block of a month (YYYY-MM, blocks count from 1). The same block again is the same for a day at
   * least. Null: nobody collects it, the summary shows it all the same.
   */
  readonly reportOverage:
    | ((overage: { account: string; customer: string; month: string; block: number }) => Promise<void>)
    | null;
  readonly webhooks: BillingWebhooks | null;
};
