import { type Client, HOOK_SECRET, signUp } from "../../test/support/client.ts";
import { type Program, startProgram } from "../../test/support/program.ts";

/** What is measured: the service as a process of its own, and an account in it. */
export type Subject = {
  readonly program: Program;
  readonly client: Client;
  readonly endpointId: string;
  /** Paths of two sources with every gate on: one records, the other delivers to the receiver. */
  readonly recordPath: string;
  readonly deliverPath: string;
};

export type Runtime = { readonly rssMiB: number; readonly lagEvents: number; readonly folded: number };

/** No load of this benchmark reaches it, but every request is counted against it. */
const RATE_PER_MINUTE = 1_000_000;
const BUDGET_EUR_DAY = 10_000_000;
const CONCURRENCY = 32;

export const setUp = async (receiverPort: number): Promise<Subject> => {
  const program = await startProgram();
  const client = await signUp(program.url);
  const policy = await client.make("/v1/policies", {
    name: "all gates",
    require_fields: ["data.object.id", "data.object.amount"],
    rate_per_minute: RATE_PER_MINUTE,
    budget_eur_day: BUDGET_EUR_DAY,
    cost: { fixed_eur: 0.02 },
  });
  const endpoint = await client.make("/v1/endpoints", {
    name: "receiver",
    url: `http://127.0.0.1:${receiverPort}/hook`,
    concurrency: CONCURRENCY,
  });
  const source = async (name: string, more: object): Promise<string> => {
    const settings = { name, type: "hmac", secret: HOOK_SECRET, dedupe: { header: "X-Delivery-Id" }, ...more };
    const made = await client.make("/v1/sources", { ...settings, policy_id: policy.id });
    return new URL(made.ingest_url).pathname;
  };
  return {
    program,
    client,
    endpointId: endpoint.id,
    recordPath: await source("records", {}),
    deliverPath: await source("delivers", { endpoint_id: endpoint.id }),
  };
};

/** The same data in a new process. */
export const restarted = async (subject: Subject): Promise<{ readonly subject: Subject; readonly startMs: number }> => {
  const began = performance.now();
  const program = await startProgram({}, subject.program.dir);
  return { subject: { ...subject, program }, startMs: performance.now() - began };
};

type RuntimeBody = {
  readonly memory: { readonly rss: number };
  readonly projections: readonly { readonly position: string | null; readonly lag_events: number }[];
};

export const runtimeOf = async ({ program }: Subject): Promise<Runtime> => {
  const response = await fetch(`${program.url}/runtime`);
  // As `api.md` describes the answer.
  const { memory, projections } = (await response.json()) as RuntimeBody;
  return {
    rssMiB: memory.rss / 1_048_576,
    lagEvents: Math.max(0, ...projections.map((view) => view.lag_events)),
    folded: Math.min(...projections.map((view) => Number(view.position ?? 0))),
  };
};
