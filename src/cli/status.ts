import { visibleLine } from "../../domain/visible-text.ts";
import type { endpointAnswer } from "../routes/endpoints/endpoint-answer.ts";
import { allPages } from "./all-pages.ts";
import { API_HELP, API_OPTIONS, API_SYNOPSIS, type Api, apiOrNone, Refusal } from "./api.ts";
import { type Command, Ended, UsageError } from "./command.ts";
import { json, nameCell, plainLine, printLines, shownSeconds, shownTime, stateCell, tonedTable } from "./formats.ts";
import type { Line } from "./tone.ts";

type Ready = { readonly status: string; readonly checks: Readonly<Record<string, string>> };

type Runtime = {
  readonly version: string;
  readonly started_at: string;
  readonly uptime_s: number;
  readonly engines: Readonly<Record<"log" | "views" | "feed", string>>;
  readonly roles: readonly string[];
  readonly projections: readonly { readonly view: string; readonly lag_events: number; readonly lag_s: number }[];
};

type Usage = {
  readonly plan: string;
  readonly period: { readonly start: string; readonly end: string };
  readonly usage: { readonly events: number; readonly included: number };
};

type EndpointShown = ReturnType<typeof endpointAnswer>;

type Account = { readonly billing: Usage; readonly endpoints: readonly EndpointShown[] };

/** The service's parts that work and that fail. A service that is not ready answers 503 with the same body. */
const readiness = async (api: Api): Promise<Ready> => {
  const response = await fetch(`${api.base}/ready`, {
    redirect: "manual",
    signal: AbortSignal.timeout(10_000),
  }).catch((error: Error) => {
    throw new Refusal(`${api.origin} cannot be reached: ${String(error.cause ?? error.message)}`, 0);
  });
  const body = (await response.json().catch(() => null)) as Ready | null;
  if (body?.checks === undefined)
    throw new Refusal(`${api.origin} is not a Countersign service: it answered with the status ${response.status}`, 0);
  return body;
};

/** What the key may see of the account, or why the service refuses the key; null if there is neither. */
type Shown = { readonly account: Account | null; readonly refusal: string | null };

const NOTHING: Shown = { account: null, refusal: null };

const accountOf = async (api: Api): Promise<Shown> => {
  try {
    const billing = await api.get<Usage>("/v1/billing/summary");
    return { account: { billing, endpoints: await allPages<EndpointShown>(api, "/v1/endpoints") }, refusal: null };
  } catch (error) {
    if (error instanceof Refusal && (error.status === 401 || error.status === 403))
      return { account: null, refusal: error.message };
    throw error;
  }
};

const percent = (rate: number | null): string => (rate === null ? "-" : `${(rate * 100).toFixed(1)} %`);

const accountLines = ({ billing, endpoints }: Account): readonly Line[] => [
  plainLine(
    `plan ${billing.plan}: ${billing.usage.events} of ${billing.usage.included} events until ${shownTime(billing.period.end)}`,
  ),
  ...tonedTable(
    endpoints.map(({ id, name, health }) => [
      id,
      stateCell(health.state),
      `${percent(health.success_rate_1h)} in the last hour`,
      `${health.queued} queued`,
      visibleLine(name),
    ]),
  ),
];

const serviceLines = (api: Api, ready: Ready, runtime: Runtime): readonly Line[] => {
  const { engines, projections, roles } = runtime;
  const behind = projections.filter(({ lag_events }) => lag_events > 0);
  const lag = behind.map(({ view, lag_events, lag_s }) => `${view} by ${lag_events} records, ${lag_s} s`);
  return tonedTable([
    [nameCell("service"), api.origin],
    [nameCell("version"), runtime.version],
    [nameCell("ready"), stateCell(ready.status)],
    ...Object.entries(ready.checks).map(([name, check]) => [nameCell(`  ${name}`), stateCell(check)]),
    [nameCell("up"), `${shownSeconds(runtime.uptime_s)}, since ${shownTime(runtime.started_at)}`],
    [nameCell("roles"), roles.join(", ")],
    [nameCell("engines"), `log ${engines.log}, views ${engines.views}, feed ${engines.feed}`],
    [nameCell("views behind"), lag.join("; ") || "none"],
  ]);
};

export const status: Command = {
  synopsis: API_SYNOPSIS,
  help: [
    "Prints whether a service is ready, its engines and the lag of its views; with a key also the",
    "account's usage and the health of its endpoints. Exit code 1: not ready, or the key is refused.",
    ...API_HELP,
  ],
  options: API_OPTIONS,
  async run(args, env, terminal) {
    if (args.positionals.length > 0) throw new UsageError("status takes no argument.");
    const { api, hasKey } = apiOrNone(args, env);
    const ready = await readiness(api);
    const runtime = await api.get<Runtime>("/runtime");
    const { account, refusal } = hasKey && ready.status === "ok" ? await accountOf(api) : NOTHING;
    if (args.options.json === true) terminal.out(json({ url: api.origin, ready, runtime, account, refusal }));
    else {
      printLines(terminal, serviceLines(api, ready, runtime));
      if (account !== null) printLines(terminal, accountLines(account));
    }
    if (refusal !== null) terminal.note(`The account is not shown: ${refusal}`);
    if (ready.status !== "ok" || refusal !== null) throw new Ended(1);
  },
};
