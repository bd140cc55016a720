import type { Json, JsonObject } from "../../../domain/json.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import type { BytesRemoved } from "../../../domain/ports/event-log.ts";
import type { Authenticate } from "../../http/authenticate.ts";
import { BYTES_REMOVED, number, object, text } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import type { Answer, JsonSchema, Route } from "../../http/route.ts";
import { type ConsoleBundle, consoleRoutes } from "./console.ts";
import { viewSchemaRoutes } from "./view-schemas.ts";

/** What `/runtime` shows. It is public, so it has neither tenants' data nor secrets. */
type Runtime = {
  readonly engines: { readonly log: string; readonly views: string; readonly feed: string };
  readonly erasure: { readonly bytes_removed: BytesRemoved };
  readonly roles: readonly string[];
  readonly projections: readonly {
    readonly view: string;
    readonly position: string | null;
    readonly lag_events: number;
    readonly lag_s: number;
  }[];
  /** Null if this process publishes nothing to Kafka. */
  readonly feed: {
    readonly state: string;
    readonly position: string | null;
    readonly published: number;
    readonly lag_s: number;
  } | null;
};

type Checks = Readonly<Record<string, () => Promise<boolean>>>;

export type OperationsDeps = {
  readonly version: string;
  readonly commit: string;
  readonly publicUrl: () => string;
  readonly consoleBundle: ConsoleBundle;
  /** For the console's shell, which says whether the reader has a session. */
  readonly authenticate: Authenticate;
  /** When this process was started, in ms since 1970. */
  readonly startedAt: number;
  readonly clock: Clock;
  /** One check for each part of this process, such as the log or the deliverer. A check that throws has failed. */
  readonly checks: Checks;
  /** Checks that are shown, but whose failure does not take the node out of service. */
  readonly informational?: Checks;
  readonly runtime: () => Promise<Runtime>;
};

/** A check without a result after this time has failed. */
const CHECK_TIMEOUT_MS = 1_000;

const TAG = "operations";
const passes = async (check: () => Promise<boolean>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS);
  });
  try {
    return await Promise.race([check(), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
};

const statesOf = async (checks: Checks): Promise<Readonly<Record<string, "ok" | "failing">>> =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, (await passes(check)) ? "ok" : "failing"] as const),
    ),
  );

const ready = async (checks: Checks, beside: Checks): Promise<Answer> => {
  const [states, informational] = await Promise.all([statesOf(checks), statesOf(beside)]);
  const isReady = Object.values(states).every((state) => state === "ok");
  const body = { status: isReady ? "ok" : "unavailable", checks: states, informational };
  return { status: isReady ? 200 : 503, body };
};

const describeProcess = async ({ version, startedAt, clock, runtime }: OperationsDeps): Promise<JsonObject> => {
  const { engines, erasure, roles, projections, feed } = await runtime();
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  return {
    version,
    node: process.version,
    started_at: new Date(startedAt).toISOString(),
    uptime_s: Math.max(0, Math.floor((clock.now() - startedAt) / 1000)),
    engines,
    erasure,
    roles,
    projections: projections.map((projection): Json => ({ ...projection })),
    feed: feed === null ? null : { ...feed },
    memory: { rss, heap_used: heapUsed, heap_total: heapTotal, external },
  };
};

const STATES: JsonSchema = { type: "object", additionalProperties: { type: "string", enum: ["ok", "failing"] } };

const READY = named(
  "Readiness",
  object({
    status: { type: "string", enum: ["ok", "unavailable"] },
    checks: STATES,
    informational: { ...STATES, description: "Parts that catch up by themselves: they do not affect the status" },
  }),
);

const RUNTIME = named(
  "Runtime",
  object({
    version: text,
    node: text,
    started_at: text,
    uptime_s: number,
    engines: object({ log: text, views: text, feed: text }),
    erasure: object({ bytes_removed: BYTES_REMOVED }),
    roles: { type: "array", items: text },
    projections: {
      type: "array",
      items: object({
        view: text,
        position: { type: ["string", "null"], description: "Null: nothing of this log has been folded." },
        lag_events: {
          ...number,
          description:
            "Events of the log that it has not folded, payloads among them; on EventStoreDB, whose positions do not tell, 1 for at least one.",
        },
        lag_s: { ...number, description: "The age of the oldest of them, in seconds." },
      }),
    },
    feed: {
      type: ["object", "null"],
      description: "of the feed to Kafka, where this process has that role",
      properties: { state: text, position: { type: ["string", "null"] }, published: number, lag_s: number },
    },
    memory: {
      ...object({ rss: number, heap_used: number, heap_total: number, external: number }),
      description: "Bytes.",
    },
  }),
);

const operation = (path: string, summary: string, answers: Route["answers"], handle: () => Promise<Answer>): Route => ({
  method: "GET",
  path,
  who: "anyone",
  summary,
  tag: TAG,
  answers,
  handle,
});

/** Routes without a credential, and without a version in their paths. */
export const operationsRoutes = (deps: OperationsDeps): readonly Route[] => {
  const { version, commit } = deps;
  return [
    operation("/health", "Is the process alive?", { 200: named("Health", object({ status: text })) }, async () => ({
      status: 200,
      body: { status: "ok" },
    })),
    operation("/ready", "Does each part work?", { 200: READY, 503: READY }, () =>
      ready(deps.checks, deps.informational ?? {}),
    ),
    operation(
      "/version",
      "Which build is this?",
      { 200: named("Version", object({ version: text, commit: text })) },
      async () => ({
        status: 200,
        body: { version, commit },
      }),
    ),
    operation("/runtime", "How does it run, and how far are the views?", { 200: RUNTIME }, async () => ({
      status: 200,
      body: await describeProcess(deps),
    })),
    ...consoleRoutes(deps.consoleBundle, deps.authenticate),
    ...viewSchemaRoutes(deps.publicUrl),
  ];
};
