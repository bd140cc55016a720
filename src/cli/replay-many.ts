import { setTimeout as pause } from "node:timers/promises";
import { type Api, isPassing } from "./api.ts";
import { Ended, type Terminal } from "./command.ts";
import { json, shownSeconds, shownTime } from "./formats.ts";
import { progressBar } from "./progress-bar.ts";

export type ReplayRequest = {
  readonly filter: Readonly<Record<string, string>>;
  readonly rate_per_second?: number;
  readonly reason?: string;
};

export type Plan = {
  readonly count: number;
  readonly waiting_at: readonly { readonly endpoint_id: string; readonly reason: string; readonly count: number }[];
  readonly skipped: readonly { readonly reason: string; readonly count: number }[];
  readonly oldest: string | null;
  readonly newest: string | null;
  readonly endpoints: readonly { readonly id: string | null; readonly count: number }[];
  readonly estimated_s: number;
};

type ReplayState = {
  readonly id: string;
  readonly status: "running" | "done" | "cancelled";
  readonly total: number;
  readonly done: number;
  readonly delivered: number;
  readonly failed: number;
  readonly skipped: number;
};

const POLL_MS = 500;
/** After the last event was replayed, its delivery and others in progress are waited for this long at most. */
const SETTLE_MS = 10_000;

export const planOf = async (api: Api, request: ReplayRequest): Promise<Plan> =>
  (await api.post<Plan>("/v1/replays", { ...request, dry_run: true })).body;

export const planLines = ({
  count,
  waiting_at,
  skipped,
  oldest,
  newest,
  endpoints,
  estimated_s,
}: Plan): readonly string[] => [
  `${count} events${oldest === null || newest === null ? "" : `, received ${shownTime(oldest)} to ${shownTime(newest)}`}`,
  ...endpoints.map(({ id, count: own }) => `  ${id ?? "no endpoint"}  ${own}`),
  ...waiting_at.map(({ endpoint_id, reason, count: own }) => `  ${own} wait at ${endpoint_id}: ${reason}`),
  ...skipped.map(({ reason, count: own }) => `  ${own} are skipped: ${reason}`),
  ...(count === 0 ? [] : [`about ${shownSeconds(estimated_s)}`]),
];

const wordsOf = ({ delivered, failed, skipped }: ReplayState): string =>
  `${delivered} delivered, ${failed} failed, ${skipped} skipped`;

type Watched = { readonly id: string; readonly after?: string | undefined; readonly json: boolean };

/** Waits for the replay's end. Throws `Ended` with exit code 1 if events failed again or the replay was cancelled. */
export const watchReplay = async (
  api: Api,
  { id, after, json: asJson }: Watched,
  terminal: Terminal,
): Promise<void> => {
  const bar = progressBar(terminal);
  let endedAt: number | null = null;
  for (;;) {
    const state = await api.get<ReplayState>(`/v1/replays/${id}`, { after }).catch((error: unknown) => {
      // The service goes on with the replay while it cannot be reached, so the state is asked for again.
      if (isPassing(error)) return null;
      throw error;
    });
    if (state !== null) {
      const { status, total, done, delivered, failed, skipped } = state;
      bar.show(done, total, wordsOf(state));
      if (status !== "running") endedAt ??= performance.now();
      const isSettled = delivered + failed + skipped >= done;
      if (endedAt !== null && (isSettled || performance.now() - endedAt > SETTLE_MS)) {
        bar.end();
        const open = done - delivered - failed - skipped;
        const rest = open > 0 ? `, ${open} being delivered` : "";
        terminal.out(asJson ? json(state) : `${id} is ${status}: ${done} of ${total}: ${wordsOf(state)}${rest}`);
        if (status === "cancelled" || failed > 0) throw new Ended(1);
        return;
      }
    }
    await pause(POLL_MS);
  }
};

export const replayMany = async (
  api: Api,
  request: ReplayRequest,
  { json: asJson, yes, detach }: { readonly json: boolean; readonly yes: boolean; readonly detach: boolean },
  terminal: Terminal,
): Promise<void> => {
  const plan = await planOf(api, request);
  if (!asJson) for (const line of planLines(plan)) terminal.note(line);
  if (plan.count === 0) return terminal.out(asJson ? json({ total: 0 }) : "Nothing to replay.");
  if (!yes && terminal.screen !== undefined && !(await terminal.screen.ask(`Replay ${plan.count} events?`))) {
    terminal.note("Nothing was replayed.");
    throw new Ended(1);
  }
  const { body: started, position } = await api.post<Pick<ReplayState, "id" | "status" | "total">>(
    "/v1/replays",
    request,
  );
  if (detach)
    return terminal.out(asJson ? json(started) : `${started.id} is ${started.status}: ${started.total} events`);
  terminal.note(`${started.id} continues if this is interrupted; countersign replay cancel ${started.id} stops it.`);
  await watchReplay(api, { id: started.id, after: position ?? undefined, json: asJson }, terminal);
};
