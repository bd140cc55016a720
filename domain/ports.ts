/** The ports: what the program needs from the outside, as types. Adapters are in `infra/`, one technology per folder. */

import type { Plan } from "./account/plans.ts";
import type { SubscriptionStatus } from "./account/subscription.ts";
import type { FailureKind, Timings } from "./delivery/events.ts";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** 0-based, without gaps within a stream. */
export type Revision = number;
/** Opaque, of fixed width: positions of the same log compare as text. */
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
  /** The caller's span, from its `traceparent`: the parent of `span_id`. Missing when the trace began here. */
  readonly parent_span_id?: string;
  /** The id of the event that a process manager reacted to. */
  readonly causation_id: string | null;
  /** ISO-8601 UTC with milliseconds. */
  readonly recorded_at: string;
  /** The version of the shape of `data`. */
  readonly schema: number;
};

export type NewEvent = {
  /** A UUID, derived from the command and the index: a repeated append carries the same ids. */
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

/** `upTo`: how far the log was searched, to continue from; null when there was nothing after the given position. */
export type TypesPage = { readonly events: readonly RecordedEvent[]; readonly upTo: Position | null };

/**
 * When the bytes of erased events leave the engine's files. "within-seconds": by itself. "with-the-next-scavenge": when an
 * operator scavenges the server, and the 256 MB chunk that holds them is full by then.
 */
export type BytesRemoved = "within-seconds" | "with-the-next-scavenge";

/**
 * The append-only log. Adapters throw `LogUnavailable` when nothing was written and `OutcomeUnknown` when that
 * cannot be known (`infra/log-errors.ts`): after the latter the same call, with the same ids and revision, is safe.
 */
export type EventLog = {
  /** Durable when it resolves; `revision` and `position` are the last event's. Repeating an append appends nothing more. */
  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<Appended>;
  /** The next events of a stream after `after`, at most `limit`; an empty page is its end. */
  read(stream: string, after: Revision | null, limit: number): Promise<readonly RecordedEvent[]>;
  last(stream: string): Promise<RecordedEvent | null>;
  /** The whole log in one total order, without gaps and without system events; "records" leaves out `payload-` and `personal-` streams. */
  readAll(after: Position | null, limit: number, what?: "everything" | "records"): Promise<readonly RecordedEvent[]>;
  /** The next events of these types after `after`, at most `limit`: for a follower that needs few of all events. */
  readTypes(types: readonly string[], after: Position | null, limit: number): Promise<TypesPage>;
  /** The position of the last event, or of the last one outside `payload-` and `personal-` streams; null where there is none. */
  head(what?: "everything" | "records"): Promise<Position | null>;
  /** A permanent name of this log. It is not copied with the events, because positions in the copy differ. */
  identity(): Promise<string>;
  /**
   * Removes the events of a `payload-` or `personal-` stream up to and including `upTo`, or all of them; throws for any other stream.
   * Later events stay, including those appended meanwhile. Erasing twice has the same effect as once. Where nothing later
   * stands, the erasure takes a revision: an append that was under way and expects the last erased one is a conflict.
   */
  erase(stream: string, upTo?: Revision): Promise<void>;
  /** Erased events are hidden from every reader at once; their bytes may stay in the files for longer. */
  readonly bytesRemoved: BytesRemoved;
  /** A hint that may be lost: followers of the log also poll. Returns a function that stops listening. */
  onAppended(wake: () => void): () => void;
  close(): Promise<void>;
};

/** Plain JSON. The fields that a view declares are top-level members; it can be searched by these alone. */
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
  /** The sort value and id of the last document seen: the page begins after it. */
  readonly after?: { readonly value: string | number; readonly id: string };
  /**
   * Where several conditions have an index each: the field of the one that the fewest documents meet. A store that cannot
   * tell uses that index.
   */
  readonly lead?: string;
  readonly limit: number;
};

export type Found = { readonly id: string; readonly document: Document };

/** Names one record of a log: another log, or a restored one, has a record with another id at the same place. */
export type RecordName = Pick<RecordedEvent, "stream" | "revision" | "id">;

/**
 * `isEmptied`: false while the drop that assigned the view to this log is under way, or if it was interrupted. `last`: the
 * record at the checkpoint; null before the first commit, and if that commit did not name its record.
 */
export type ViewOrigin = {
  readonly log: string;
  readonly isEmptied: boolean;
  readonly last: (RecordName & { readonly position: Position }) | null;
};

/** `leading`: how many of the documents are written first; 0 if left out. `record`: the record at `upTo`. */
type CommitDetails = { readonly leading?: number; readonly record?: RecordName };

/** A document to fold further, and the position up to which it is folded; null: up to the view's checkpoint. */
export type Loaded = { readonly document: Document | null; readonly position: Position | null };

/**
 * The read models. They may lag, and may be dropped and folded again; nothing is ever decided from them. Adapters throw
 * `ViewsUnavailable` (`infra/view-errors.ts`) when the storage fails: the call may be repeated.
 */
export type ViewStore = {
  get(view: string, id: string): Promise<Document | null>;
  getMany(view: string, ids: readonly string[]): Promise<ReadonlyMap<string, Document>>;
  page(view: string, query: ViewQuery): Promise<readonly Found[]>;
  /** How many documents match, counted up to `atMost`. */
  count(view: string, where: readonly Condition[], atMost: number): Promise<number>;
  /** The checkpoint: the position up to which the view is folded; null before the first commit. */
  position(view: string): Promise<Position | null>;
  /** The log that the view belongs to; null if it was never assigned to one. */
  origin(view: string): Promise<ViewOrigin | null>;
  /**
   * What a fold from the checkpoint `after` starts with: an entry for each id, with a null document where there is none.
   * "stale" if the checkpoint is a different one. In an engine without transactions a document may be ahead of the
   * checkpoint: it already contains the events up to its position.
   */
  load(view: string, after: Position | null, ids: readonly string[]): Promise<ReadonlyMap<string, Loaded> | "stale">;
  /**
   * Writes the documents as folded at `upTo` (null removes one) and the checkpoint, if the checkpoint is still `after`; else
   * writes nothing and returns "stale". An engine without transactions writes the first `leading` documents, then the
   * others, then the checkpoint: it may return "stale", or fail, with some of them written; `load` then tells which.
   * The record's name is part of the checkpoint (`ViewOrigin`).
   */
  commit(
    view: string,
    after: Position | null,
    upTo: Position,
    documents: ReadonlyMap<string, Document | null>,
    details?: CommitDetails,
  ): Promise<"committed" | "stale">;
  /** Removes documents and checkpoint, and assigns the view to the log with this identity. */
  drop(view: string, log: string): Promise<void>;
  close(): Promise<void>;
};

/**
 * One record for the world outside, as CloudEvents 1.0 has it (JSON event format, section 2; extension attributes are
 * lower-case). Source and id name a record for ever, whichever engine keeps it; `position` is text that names this log too.
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
  /** As `Countersign-Position` has it. */
  readonly position: string;
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

/** Where the records are published, outside of this program. */
export type Feed = {
  /**
   * Resolves when all are stored there, those of one subject in this order. Rejects when that is not known of all of them:
   * some may be stored, and publishing the same events again is safe.
   */
  publish(events: readonly CloudEvent[]): Promise<void>;
  close(): Promise<void>;
};

/** ms since 1970. */
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
  /** Whose share of the look-ups in the DNS it takes; left out: nobody's. */
  readonly account?: string;
  /** For the whole exchange: DNS, connection, request and response. */
  readonly timeoutMs: number;
  /** Aborts the attempt; its outcome is then unknown, as after a reset. */
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
      /** Our own resolver could not resolve the name in time: this says nothing about the receiver. */
      readonly resolverFailed?: true;
      readonly timings: Timings;
    }
);

/** One POST to a receiver. Never rejects: whatever happens is a value. */
export type HttpSender = {
  send(request: HttpRequest): Promise<Sent>;
  /** Waits at most `limitMs` for requests in flight, then aborts them. */
  close(limitMs: number): Promise<void>;
};

type SpanKind = "internal" | "server" | "client";
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
  /**
   * "Cancelled": nothing holds, whether anything was bought before or not. Null: there is no such customer, or nobody
   * knows what it has: then nothing changes.
   */
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
