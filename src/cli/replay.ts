import { defined } from "../../domain/defined.ts";
import { API_HELP, API_OPTIONS, API_SYNOPSIS, apiOf } from "./api.ts";
import { type Command, type Options, UsageError } from "./command.ts";
import { TIMES_HELP, textOf, timeOf } from "./event-filter.ts";
import { isEventId } from "./events-show.ts";
import { withIds } from "./find-named.ts";
import { json } from "./formats.ts";
import { planLines, planOf, type ReplayRequest, replayMany, watchReplay } from "./replay-many.ts";
import { replayOne } from "./replay-one.ts";

const isReplayId = (text: string): boolean => /^rpl_[a-z2-7]{1,64}$/.test(text);

const RATE_MIN = 1;
const RATE_MAX = 1_000;
const FILTERS = ["status", "source", "endpoint", "from", "to"] as const;

const requestOf = ({ status, source, endpoint, from, to, rate, reason }: Options): ReplayRequest => {
  if (status !== "failed" && status !== "blocked") throw new UsageError("--status is failed or blocked.");
  const rate_per_second = rate === undefined ? undefined : Number(rate);
  if (rate_per_second !== undefined && !(rate_per_second >= RATE_MIN && rate_per_second <= RATE_MAX))
    throw new UsageError(`--rate is a number from ${RATE_MIN} to ${RATE_MAX}, events a second.`);
  const nowMs = Date.now();
  const times = { from: timeOf("from", from, nowMs), to: timeOf("to", to, nowMs) };
  return {
    filter: { status, ...defined({ source_id: textOf(source), endpoint_id: textOf(endpoint), ...times }) },
    ...defined({ rate_per_second, reason: textOf(reason) }),
  };
};

export const replay: Command = {
  synopsis: `<event> | <replay> | --status failed|blocked [<filters>] [--dry-run] ${API_SYNOPSIS}`,
  help: [
    "Replays one event and prints the outcome. For many, by a filter: shows the plan, asks, and follows",
    "with a progress bar. The replay continues in the service if this is interrupted, and `replay <replay>`",
    "follows it again. The receiver gets the same webhook-id, by which it recognizes what it has done",
    "already. Delivered events are never replayed. Exit code 1: an event failed again.",
    "<event>          evt_…",
    "<replay>         rpl_…, one that was started before",
    "--status         failed, or blocked",
    "--source <id>    only of this source, by id or name; --endpoint <id>: only for this endpoint",
    `--from, --to     received between: ${TIMES_HELP}`,
    "--dry-run        only prints the plan: how many, since when, to where, how long",
    `--rate <n>       events a second, at most ${RATE_MAX}`,
    "--reason <text>  why; it is recorded with the caller",
    "--yes            does not ask; a script is never asked",
    "--detach         does not wait for the outcome",
    ...API_HELP.map((line) => line.replace(/ {2,}/, (gap) => `${gap}    `)),
  ],
  options: {
    ...API_OPTIONS,
    status: { type: "string" },
    source: { type: "string" },
    endpoint: { type: "string" },
    from: { type: "string" },
    to: { type: "string" },
    rate: { type: "string" },
    reason: { type: "string" },
    "dry-run": { type: "boolean" },
    yes: { type: "boolean", short: "y" },
    detach: { type: "boolean" },
  },
  async run(args, env, terminal) {
    const { positionals, options } = args;
    const [id, ...others] = positionals;
    const [asJson, detach] = [options.json === true, options.detach === true];
    if (id === undefined) {
      const wanted = requestOf(options);
      const api = apiOf(args, env);
      const request = { ...wanted, filter: await withIds(api, wanted.filter) };
      if (options["dry-run"] !== true)
        return await replayMany(api, request, { json: asJson, yes: options.yes === true, detach }, terminal);
      const plan = await planOf(api, request);
      return terminal.out(asJson ? json(plan) : planLines(plan).join("\n"));
    }
    if (others.length > 0 || !(isEventId(id) || isReplayId(id)))
      throw new UsageError("replay takes one event (evt_…), one replay (rpl_…), or --status.");
    for (const name of [...FILTERS, "rate", "dry-run"] as const)
      if (options[name] !== undefined) throw new UsageError(`--${name} is for many events, not for ${id}.`);
    const api = apiOf(args, env);
    if (isReplayId(id)) return await watchReplay(api, { id, json: asJson }, terminal);
    await replayOne(api, id, { reason: textOf(options.reason), detach, json: asJson }, terminal);
  },
};

export const replayCancel: Command = {
  synopsis: `<replay> ${API_SYNOPSIS}`,
  help: ["Stops a replay. Events that it has replayed already are still delivered.", "<replay>     rpl_…", ...API_HELP],
  options: API_OPTIONS,
  async run(args, env, terminal) {
    const [id = "", ...others] = args.positionals;
    if (!isReplayId(id) || others.length > 0) throw new UsageError("replay cancel takes one replay, rpl_….");
    const { body } = await apiOf(args, env).post<{ status: string }>(`/v1/replays/${id}/cancel`, {});
    terminal.out(args.options.json === true ? json(body) : `${id} is ${body.status}`);
  },
};
