import { type LogLocation, locationsOf } from "../../src/engine/open-engines.ts";
import { type Client, HOOK_SECRET, signUp } from "../../test/support/client.ts";
import { removeFolder, temporaryFolder, until } from "../../test/support/program.ts";
import { sleep } from "./clock.ts";
import type { EngineSet, Engines } from "./engines.ts";
import { type Service, startService } from "./service-process.ts";

export type Subject = {
  readonly program: Service;
  readonly engines: Engines;
  readonly client: Client;
  readonly endpointId: string;
  /** Paths of two sources with every gate: the first only records, `deliverPath` delivers to the receiver. */
  readonly recordPath: string;
  readonly deliverPath: string;
};

export type EngineNames = { readonly log: string; readonly views: string; readonly feed: string };

export type Runtime = {
  readonly engines: EngineNames;
  readonly rssMiB: number;
  /** Records that the most lagging view has not folded; 1 if it lags and the log's positions do not count them. */
  readonly lagEvents: number;
  readonly lagS: number;
};

type Running = { readonly program: Pick<Service, "url"> };

/** Above any load of this benchmark, so that nothing is refused, while each request is still counted against it. */
const RATE_PER_MINUTE = 1_000_000;
const BUDGET_EUR_DAY = 10_000_000;
const CONCURRENCY = 32;
/** Folding a log of a million events takes less time (ms). */
const FOLD_LIMIT_MS = 3_600_000;

export const upToDate = (subject: Running): Promise<boolean> =>
  until("the views are up to date", async () => (await runtimeOf(subject)).lagEvents === 0, FOLD_LIMIT_MS);

export const upgrade = async (client: Client, plan: "scale"): Promise<void> => {
  const { body } = await client.session("POST", "/v1/billing/checkout/start", { plan });
  const headers = { "sec-fetch-site": "same-origin" };
  const { status } = await fetch(`${body.checkout_url}/confirm`, { method: "POST", headers, redirect: "manual" });
  if (status >= 400) throw new Error(`the plan ${plan} could not be taken`);
};

const setUpOn = async (program: Service, engines: Engines, receiverPort: number): Promise<Subject> => {
  // A shared log has earlier records, which the new views have to fold first.
  await upToDate({ program });
  const client = await signUp(program.url);
  if (engines.env.SIGNUP_PLAN === "free") await upgrade(client, "scale");
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
    engines,
    client,
    endpointId: endpoint.id,
    recordPath: await source("records", {}),
    deliverPath: await source("delivers", { endpoint_id: endpoint.id }),
  };
};

export const setUp = async (receiverPort: number, set: EngineSet): Promise<Subject> => {
  const engines = await set.open();
  const dir = temporaryFolder();
  let program: Service | null = null;
  try {
    program = await startService({ ...engines, dir });
    return await setUpOn(program, engines, receiverPort);
  } catch (error) {
    await program?.kill();
    removeFolder(dir);
    await engines.close();
    throw error;
  }
};

/** Milliseconds between looks at /ready, which are few compared with a start. */
const READY_LOOK_MS = 5;

const isReady = async ({ url }: Service): Promise<boolean> => (await fetch(`${url}/ready`)).ok;

/** The subject with a new process, which runs in this environment on the same data. */
export const started = async (subject: Subject, env: Engines["env"]): Promise<Subject> => {
  const program = await startService({ ...subject.engines, env, dir: subject.program.dir });
  return { ...subject, program, client: subject.client.at(program.url) };
};

/** `startMs` is the time from the start of the process until /ready answers that it is. */
export const restarted = async (subject: Subject): Promise<{ readonly subject: Subject; readonly startMs: number }> => {
  const began = performance.now();
  const again = await started(subject, subject.engines.env);
  while (!(await isReady(again.program))) await sleep(READY_LOOK_MS);
  const startMs = performance.now() - began;
  return { subject: again, startMs };
};

export const logOf = ({ program, engines }: Subject): LogLocation => {
  const { EVENTSTORE_URL: eventstoreUrl = null } = engines.env;
  return locationsOf({ dataDir: program.dir, eventstoreUrl, mongodbUrl: null }).log;
};

export const close = async ({ program, engines }: Subject): Promise<void> => {
  await program.kill();
  removeFolder(program.dir);
  await engines.close();
};

type RuntimeBody = {
  readonly engines: EngineNames;
  readonly memory: { readonly rss: number };
  readonly projections: readonly { readonly lag_events: number; readonly lag_s: number }[];
};

export const runtimeOf = async ({ program }: Running): Promise<Runtime> => {
  const response = await fetch(`${program.url}/runtime`);
  const { engines, memory, projections } = (await response.json()) as RuntimeBody;
  return {
    engines,
    rssMiB: memory.rss / 1_048_576,
    lagEvents: Math.max(0, ...projections.map((view) => view.lag_events)),
    lagS: Math.max(0, ...projections.map((view) => view.lag_s)),
  };
};

/** Events of the endpoint that are not delivered yet. */
export const queuedOf = async ({ client, endpointId }: Subject): Promise<number> => {
  const { body } = await client.call("GET", `/v1/endpoints/${endpointId}`);
  return Number(body.health.queued);
};
