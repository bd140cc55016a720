import { type Bundle, type EndedBundle, readBundle } from "./bundle.ts";
import { baseOf, durationOf, headersOf, jsonOf, quoted } from "./checks.ts";
import { CountersignError, isCountersignError, wrongCall } from "./errors.ts";
import { type Ended, type Execution, hasEnded, readExecution } from "./execution.ts";
import type { Read } from "./json.ts";
import type { BundleOptions, CallOptions, ExecuteOptions, ExecutionOptions, Options, WaitOptions } from "./options.ts";
import type { Platform } from "./platform.ts";
import { ANSWER_MS, type Call, transport, within } from "./transport.ts";

export type Client = {
  execute(action: string, payload: unknown, options?: ExecuteOptions): Promise<Execution>;
  execution(eventId: string, options?: ExecutionOptions): Promise<Execution>;
  waitForApproval(eventId: string, options?: WaitOptions): Promise<Ended>;
  bundle(steps: readonly unknown[], options?: BundleOptions): Promise<Bundle>;
  waitForBundle(bundleId: string, options?: WaitOptions): Promise<EndedBundle>;
};

type Kind<It> = { readonly at: string; readonly read: Read<It>; readonly id: keyof It & ("eventId" | "bundleId") };

const EXECUTION: Kind<Execution> = { at: "executions", read: readExecution, id: "eventId" };
const BUNDLE: Kind<Bundle> = { at: "bundles", read: readBundle, id: "bundleId" };

/** The default and the maximum of `wait_ms` as `/openapi.json` has them. */
const WAIT_MS = 10_000;
const WAIT_MS_MAX = 30_000;
const ATTEMPTS_MAX = 6;
/** Milliseconds beyond the wait, enough for a second and a third attempt if the first one hangs. */
const TIMEOUT_BEYOND_WAIT_MS = 60_000;
/** An outage of up to five minutes does not end a wait, because a wait for a person may take hours. */
const OUTAGE_MS_MAX = 300_000;
const LOOK_MS_MIN = 100;
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 5_000;

const ID = /^\w+$/;

const isRetryable = (error: unknown): boolean => isCountersignError(error) && error.retryable;

export const agentClient = (
  { baseUrl, key, attemptsMax = ATTEMPTS_MAX }: Omit<Options, "fetch">,
  platform: Platform,
): Client => {
  const base = `${baseOf(baseUrl)}/v1/`;
  const common = headersOf({ accept: "application/json", authorization: `Bearer ${key}` });
  const send = transport(platform);
  const { now, random } = platform;

  type Limits = Pick<Call, "deadline" | "attemptsMax" | "waitMs">;

  const look = <It>(
    { at, read }: Kind<It>,
    id: string,
    { signal, traceparent }: CallOptions,
    limits: Limits,
  ): Promise<It> => {
    if (!ID.test(id)) throw wrongCall("Malformed id.");
    const url = `${base}${at}/${id}?wait_ms=${Math.ceil(limits.waitMs)}`;
    return send({ method: "GET", url, headers: { ...common, ...headersOf({ traceparent }) }, signal, ...limits }, read);
  };

  const follow = async <It>(
    until: number,
    signal: AbortSignal | undefined,
    isEnough: (it: It) => boolean,
    lookFor: (waitMs: number) => Promise<It>,
  ): Promise<It> => {
    for (let early = 0; ; ) {
      const begun = now();
      const waitMs = Math.min(Math.max(until - begun, 0), WAIT_MS_MAX);
      const seen = await lookFor(waitMs);
      if (isEnough(seen) || until - now() < LOOK_MS_MIN) return seen;
      early = now() - begun < waitMs / 2 ? early + 1 : 0;
      const pause = Math.min(PAUSE_MS * early, PAUSE_MS_MAX) * (0.5 + random() / 2);
      await within(platform, Math.min(pause, until - now()), signal);
    }
  };

  const ask = async <It extends Execution | Bundle>(
    kind: Kind<It>,
    to: string,
    asked: object,
    options: Omit<ExecuteOptions, "costEur">,
  ): Promise<It> => {
    const { runId: run_id, depth, signal, traceparent, idempotencyKey = platform.newKey() } = options;
    const wholeMs = durationOf("waitMs", options.waitMs ?? WAIT_MS);
    const timeoutMs = durationOf("timeoutMs", options.timeoutMs ?? wholeMs + TIMEOUT_BEYOND_WAIT_MS);
    const waitMs = Math.ceil(Math.min(wholeMs, WAIT_MS_MAX));
    const own = {
      "content-type": "application/json",
      "idempotency-key": quoted(idempotencyKey),
      "countersign-depth": depth,
      traceparent,
    };
    const begun = now();
    const deadline = begun + timeoutMs;
    const first = await send(
      {
        method: "POST",
        url: base + to,
        headers: { ...common, ...headersOf(own) },
        body: jsonOf({ ...asked, run_id, wait_ms: waitMs }),
        idempotencyKey,
        waitMs,
        attemptsMax,
        deadline,
        signal,
      },
      kind.read,
    );

    const until = begun + wholeMs;
    const isEnough = (it: It): boolean => it.status === "held" || hasEnded(it);
    if (isEnough(first) || until - now() < LOOK_MS_MIN) return first;
    let last = first;
    try {
      await follow(until, signal, isEnough, async (rest) => {
        const limits = { waitMs: rest, attemptsMax, deadline: Math.min(until + ANSWER_MS, deadline) };
        last = await look(kind, String(first[kind.id]), options, limits);
        return last;
      });
    } catch (error) {
      // The service has accepted the action, so the last known state is returned if it cannot be followed now.
      if (!isRetryable(error)) throw error;
    }
    return { ...last, replayed: first.replayed };
  };

  const settled = async <It extends Execution | Bundle>(kind: Kind<It>, id: string, options: WaitOptions = {}) => {
    const until = now() + durationOf("timeoutMs", options.timeoutMs ?? Infinity);
    const last = await follow<It>(until, options.signal, hasEnded, (waitMs) => {
      // The service answers the last look only when the wait is over, so that answer gets some time in addition.
      const deadline = Math.min(until + ANSWER_MS, now() + waitMs + OUTAGE_MS_MAX);
      return look(kind, id, options, { waitMs, attemptsMax: Infinity, deadline });
    });
    if (hasEnded(last)) return last;
    const detail = `It is still ${last.status}.`;
    throw new CountersignError({ code: "timeout", detail, retryable: true, [kind.id]: id });
  };

  return {
    execute: async (action, payload, { costEur: cost_eur, ...options } = {}) =>
      ask(EXECUTION, "execute", { action, payload, cost_eur }, options),
    bundle: async (steps, { name, ...options } = {}) => ask(BUNDLE, BUNDLE.at, { name, steps }, options),
    async execution(eventId, options = {}) {
      const waitMs = Math.min(durationOf("waitMs", options.waitMs ?? 0), WAIT_MS_MAX);
      const limits = { waitMs, attemptsMax, deadline: now() + waitMs + TIMEOUT_BEYOND_WAIT_MS };
      return look(EXECUTION, eventId, options, limits);
    },
    waitForApproval: (eventId, options) => settled(EXECUTION, eventId, options),
    waitForBundle: (bundleId, options) => settled(BUNDLE, bundleId, options),
  };
};
