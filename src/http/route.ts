import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import { type Role, roleIncludes } from "../../domain/account/events.ts";
import type { Json } from "../../domain/json.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Caller } from "../calls/call-counts.ts";
import { clientOf } from "../erasure/personal-data.ts";
import type { Envelope } from "../streams/envelope.ts";
import type { Problem, ProblemCode } from "../streams/problems.ts";

/** The authenticated caller. Everything that it may see or change belongs to its `account`. */
export type Principal =
  | {
      readonly kind: "member";
      readonly account: string;
      readonly id: string;
      readonly email: string;
      readonly role: Role;
      /** The stream id of the session. */
      readonly session: string;
    }
  | { readonly kind: "key"; readonly account: string; readonly id: string; readonly role: Role }
  | { readonly kind: "agent"; readonly account: string; readonly id: string };

/** Agents have no role; their scope limits them. */
export const hasRole = (principal: Principal, needed: Role): boolean =>
  principal.kind !== "agent" && roleIncludes(principal.role, needed);

/** The weakest role that may call, for each kind of credential; a missing kind may not call at all. */
export type Who = "anyone" | { readonly session?: Role; readonly key?: Role; readonly agent?: true };

export const READERS = { session: "viewer", key: "viewer" } as const satisfies Who;
export const ADMINS = { session: "admin", key: "admin" } as const satisfies Who;

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The schemas of a query, by the names of its parameters. */
type QuerySchema = Readonly<Record<string, JsonSchema>>;

/** The schemas that a handler was written for, and the names of its path's parameters: `route` compares them with the row's. */
export type Input = { readonly body?: JsonSchema; readonly query?: QuerySchema; readonly params?: string };

/** A parsed body is JSON: the parts that its schema leaves open are `Json`, not unknown. */
type JsonOf<T> = unknown extends T
  ? Json
  : T extends readonly (infer Item)[]
    ? readonly JsonOf<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: JsonOf<T[K]> }
      : T;

export type BodyOf<S> = S extends JSONSchema ? JsonOf<FromSchema<S>> : unknown;

/** Every property with a default is there: the validator fills it in. */
type QueryOf<Q> =
  Q extends Readonly<Record<string, JSONSchema>>
    ? FromSchema<{ readonly type: "object"; readonly additionalProperties: false; readonly properties: Q }>
    : Readonly<Record<string, unknown>>;

type ParamsOf<P> = Readonly<Record<P extends string ? P : string, string>>;

/** One call, validated: the types of `params`, `query` and `body` follow from the schemas in `I`. */
export type Call<I extends Input = object> = {
  readonly principal: Principal;
  readonly params: ParamsOf<I extends { readonly params: infer P } ? P : string>;
  readonly query: QueryOf<I extends { readonly query: infer Q } ? Q : unknown>;
  readonly body: BodyOf<I extends { readonly body: infer B } ? B : unknown>;
  readonly envelope: Envelope;
  /** 32 random bytes for each purpose; a repeat of the call under its Idempotency-Key gets the same bytes. */
  readonly secret: (purpose: string) => Uint8Array;
  readonly ip: string;
  readonly userAgent: string;
  /** The headers that the route names; repeated ones are joined by a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Whether the credential is still valid and may still make this call. */
  readonly isStillAllowed: () => Promise<boolean>;
  /** The Idempotency-Key if the route answers repeats itself; else null. */
  readonly key: string | null;
  /** Aborted when the server begins to close and, on a route that waits, when the client disconnects. */
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
  /** JSON, or bytes or a stream with their content type in `headers`. A stream is destroyed when the client disconnects. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as `Countersign-Position`; a read with `?after=` waits for it. */
  readonly position?: Position;
};

export const positionOf = ({ position }: { readonly position?: Position | undefined }): Pick<Answer, "position"> =>
  position === undefined ? {} : { position };

/** A row of the route table. `table.ts` makes a Fastify route of it, `openapi.ts` its description. */
export type Route = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly who: Who;
  readonly summary: string;
  readonly tag: string;
  readonly query?: QuerySchema;
  /** Names are in lower case. */
  readonly headers?: Readonly<Record<string, JsonSchema>>;
  readonly body?: JsonSchema;
  /** A missing body then counts as `{}`. */
  readonly bodyOptional?: true;
  /** The schema of the body of each successful status. */
  readonly answers: Readonly<Record<number, JsonSchema | null>>;
  /** The route's own problems; `problemsOf` adds those that follow from the other members. */
  readonly problems?: readonly ProblemCode[];
  /** The media type of those bodies; application/json if left out. */
  readonly produces?: string;
  /** The route requires an Idempotency-Key and answers repeats itself; otherwise the first answer is stored and repeated. */
  readonly answersRepeats?: true;
  /** The handler may wait long: `Call.closing` is aborted as well when the client disconnects. */
  readonly waits?: true;
  /** The views that this read shows; `?after=<position>` waits for them. */
  readonly reads?: readonly string[];
  readonly handle: (call: Call) => Promise<Answer | Problem>;
};

export type Handler<I extends Input = object> = (call: Call<I>) => Promise<Answer | Problem>;

type Placeholders<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

/** A row whose handler takes its input as typed by the row's own schemas; a handler written for others does not compile. */
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
): Route =>
  // The server validates each call against these schemas before the handler sees it.
  row as Route;

/** The body of a 202: the change weakens a protected policy and waits for that policy's approvals. */
export const HELD_CHANGE: JsonSchema = {
  type: "object",
  required: ["status", "approval_id", "change_id"],
  properties: { status: { const: "held" }, approval_id: { type: "string" }, change_id: { type: "string" } },
};

export const isProblem = (it: Answer | Problem): it is Problem => "problem" in it;
