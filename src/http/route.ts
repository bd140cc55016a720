import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import { type Addressed, type Role, roleIncludes } from "../../domain/account/events.ts";
import type { Json } from "../../domain/json.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Caller } from "../calls/call-counts.ts";
import { clientOf } from "../erasure/personal-data.ts";
import type { Envelope } from "../streams/envelope.ts";
import type { Problem, ProblemCode } from "../streams/problems.ts";
import { named } from "./named-schemas.ts";

/** The caller of a route, who may see and change only what belongs to its `account`. */
export type Principal =
  | (Addressed & {
      readonly kind: "member";
      readonly account: string;
      readonly id: string;
      readonly role: Role;
      readonly session: string;
    })
  | { readonly kind: "key"; readonly account: string; readonly id: string; readonly role: Role }
  | { readonly kind: "agent"; readonly account: string; readonly id: string };

export const hasRole = (principal: Principal, needed: Role): boolean =>
  principal.kind !== "agent" && roleIncludes(principal.role, needed);

/** The lowest role that may call, for each kind of credential. A kind that is left out may not call. */
export type Who = "anyone" | { readonly session?: Role; readonly key?: Role; readonly agent?: true };

export const READERS = { session: "viewer", key: "viewer" } as const satisfies Who;
export const ADMINS = { session: "admin", key: "admin" } as const satisfies Who;

export type JsonSchema = Readonly<Record<string, unknown>>;

type QuerySchema = Readonly<Record<string, JsonSchema>>;

/** The schemas and path parameters for which a handler was written; `route` compares them with those of its row. */
export type Input = { readonly body?: JsonSchema; readonly query?: QuerySchema; readonly params?: string };

/** The type of a body in which the parts that its schema leaves open are `Json` instead of unknown. */
type JsonOf<T> = unknown extends T
  ? Json
  : T extends readonly (infer Item)[]
    ? readonly JsonOf<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: JsonOf<T[K]> }
      : T;

export type BodyOf<S> = S extends JSONSchema ? JsonOf<FromSchema<S>> : unknown;

/** The type of a query after validation, which fills in defaults: each property with a default is present. */
type QueryOf<Q> =
  Q extends Readonly<Record<string, JSONSchema>>
    ? FromSchema<{ readonly type: "object"; readonly additionalProperties: false; readonly properties: Q }>
    : Readonly<Record<string, unknown>>;

type ParamsOf<P> = Readonly<Record<P extends string ? P : string, string>>;

export type Call<I extends Input = object> = {
  readonly principal: Principal;
  readonly params: ParamsOf<I extends { readonly params: infer P } ? P : string>;
  readonly query: QueryOf<I extends { readonly query: infer Q } ? Q : unknown>;
  readonly body: BodyOf<I extends { readonly body: infer B } ? B : unknown>;
  readonly envelope: Envelope;
  /** Returns 32 bytes for each purpose: random ones, but the same for a repeat under the same Idempotency-Key. */
  readonly secret: (purpose: string) => Uint8Array;
  readonly ip: string;
  readonly userAgent: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly isStillAllowed: () => Promise<boolean>;
  /** The Idempotency-Key; null unless the route recognises repeats itself (`answersRepeats`). */
  readonly key: string | null;
  /** Aborted when the server begins to close and, if the route `waits`, also when the client disconnects. */
  readonly closing: AbortSignal;
};

export const calledBy = ({ envelope, ip, userAgent }: Call): Caller => ({
  account: envelope.account,
  actor: envelope.actor,
  client: clientOf({ ip, userAgent }),
  trace: envelope.trace,
});

export type Answer = {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly position?: Position;
};

export const positionOf = ({ position }: { readonly position?: Position | undefined }): Pick<Answer, "position"> =>
  position === undefined ? {} : { position };

export type Route = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly who: Who;
  readonly summary: string;
  readonly tag: string;
  readonly query?: QuerySchema;
  /** Parameters of the query without which there is no answer; all others may be left out. */
  readonly queryRequired?: readonly string[];
  readonly headers?: Readonly<Record<string, JsonSchema>>;
  readonly body?: JsonSchema;
  /** The body as the published description has it, if the handler itself checks what the schema `body` leaves open. */
  readonly bodyShown?: JsonSchema;
  readonly bodyOptional?: true;
  readonly answers: Readonly<Record<number, JsonSchema | null>>;
  readonly problems?: readonly ProblemCode[];
  /** The media types of a success, or a range of them. */
  readonly produces?: string | readonly string[];
  /** The route requires an Idempotency-Key and recognises repeats itself, so no answer is stored for them. */
  readonly answersRepeats?: true;
  /**
   * The call works even if the changes of the day (`change_bytes_day`) are used up, because it takes something away,
   * decides or records nothing; a function tells so by the body. All DELETE calls work.
   */
  readonly always?: true | ((body: unknown) => boolean);
  /** The call may wait long, so `Call.closing` is aborted as well when the client disconnects. */
  readonly waits?: true;
  /** The query is for the page's own script, and is not checked. */
  readonly anyQuery?: true;
  /** It is a page for people or a part of one, and not in the description of the API. */
  readonly hidden?: true;
  readonly reads?: readonly string[];
  readonly handle: (call: Call) => Promise<Answer | Problem>;
};

export type Handler<I extends Input = object> = (call: Call<I>) => Promise<Answer | Problem>;

type Placeholders<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

/** Makes a row of the route table. A handler that was written for other schemas than the row's does not compile. */
export const route = <
  const Path extends string,
  const Body extends JsonSchema = JsonSchema,
  const Query extends QuerySchema = QuerySchema,
>(
  row: Omit<Route, "path" | "query" | "body" | "handle"> & {
    readonly path: Path;
    readonly query?: Query;
    readonly body?: Body;
    readonly handle: Handler<{ body: NoInfer<Body>; query: NoInfer<Query>; params: Placeholders<Path> }>;
  },
): Route => row as Route;

/** The body of an answer 202: the change weakens a protected policy and waits for the approvals of that policy. */
export const HELD_CHANGE: JsonSchema = named("HeldChange", {
  type: "object",
  required: ["status", "approval_id", "change_id"],
  properties: { status: { const: "held" }, approval_id: { type: "string" }, change_id: { type: "string" } },
});

export const isProblem = (it: Answer | Problem): it is Problem => "problem" in it;
