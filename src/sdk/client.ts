import { baseOf, durationOf, headersOf, jsonOf, quoted } from "./checks.ts";
import { CountersignError, isCountersignError, wrongCall } from "./errors.ts";
import { type Ended, type Execution, hasEnded, readExecution } from "./execution.ts";
import type { CallOptions, ExecuteOptions, ExecutionOptions, Options, WaitOptions } from "./options.ts";
import type { Platform } from "./platform.ts";
import { ANSWER_MS, type Call, sleep, transport } from "./transport.ts";

/** What an agent can ask of the service. All throw `CountersignError`, or the reason of an aborted signal. */
export type Client = {
  execute(action: string, payload: unknown, options?: ExecuteOptions): Promise<Execution>;
  execution(eventId: string, options?: ExecutionOptions): Promise<Execution>;
  waitForApproval(eventId: string, options?: WaitOptions): Promise<Ended>;
};

/** What the service waits for when it is not told, and at most (`api.md`). */
const WAIT_MS = 10_000;
const WAIT_MS_MAX = 30_000;
const ATTEMPTS_MAX = 6;
/** Room for a second and a third attempt when the first one hangs. */
const TIMEOUT_BEYOND_WAIT_MS = 60_000;
/** Who waits hours for a person does not give up over a service that is away for minutes. */
const OUTAGE_MS_MAX = 300_000;
/** A shorter rest of a wait is not worth another look. */
const LOOK_MS_MIN = 100;
/** Between two looks, when the service answers before the time that it was given. */
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 5_000;

const EVENT_ID = /^\w+$/;

const isRetryable = (error: unknown): boolean => isCountersignError(error) && error.retryable;

/** The whole client but for the types of the actions. Throws `CountersignError` for wrong options. */
export const agentClient = (
  { baseUrl, key, attemptsMax = ATTEMPTS_MAX }: Omit<Options, "fetch">,
  platform: Platform,
): Client => {
  const base = baseOf(baseUrl);
  const common = headersOf({ accept: "application/json", authorization: `Bearer ${key}` });
  const send = transport(platform);
  const { now, random } = platform;

  type Limits = Pick<Call, "deadline" | "attemptsMax" | "waitMs">;

  const look = (eventId: string, { signal, traceparent }: CallOptions, limits: Limits): Promise<Execution> => {
    if (!EVENT_ID.test(eventId)) throw wrongCall("This is not the id of an execution.");
    const url = `${base}/v1/executions/${eventId}?wait_ms=${Math.ceil(limits.waitMs)}`;
    const headers = { ...common, ...headersOf({ traceparent }) };
    return send({ method: "GET", url, headers, signal, ...limits }, readExecution);
  };

  /** Looks until it is enough or the time is up; gives what was seen last. */
  const follow = async (
    until: number,
    signal: AbortSignal | undefined,
    isEnough: (it: Execution) => boolean,
    lookFor: (waitMs: number) => Promise<Execution>,
  ): Promise<Execution> => {
    for (let early = 0; ; ) {
      const begun = now();
      const waitMs = Math.min(Math.max(until - begun, 0), WAIT_MS_MAX);
      const seen = await lookFor(waitMs);
      if (isEnough(seen) || until - now() < LOOK_MS_MIN) return seen;
      early = now() - begun < waitMs / 2 ? early + 1 : 0;
      const pause = Math.min(PAUSE_MS * early, PAUSE_MS_MAX) * (0.5 + random() / 2);
      await sleep(platform, Math.min(pause, until - now()), signal);
    }
  };

  return {
    async execute(action, payload, options = {}) {
      const { runId, costEur, depth, signal, traceparent } = options;
      const waitMs = durationOf("waitMs", options.waitMs ?? WAIT_MS);
      const timeoutMs = durationOf("timeoutMs", options.timeoutMs ?? waitMs + TIMEOUT_BEYOND_WAIT_MS);
      const idempotencyKey = options.idempotencyKey ?? platform.newKey();
      const asked = Math.ceil(Math.min(waitMs, WAIT_MS_MAX));
      const body = jsonOf({ action, payload, run_id: runId, cost_eur: costEur, wait_ms: asked });
      const own = {
        "content-type": "application/json",
        "idempotency-key": quoted(idempotencyKey),
        "countersign-depth": depth === undefined ? depth : String(depth),
        traceparent,
      };
      const begun = now();
      const deadline = begun + timeoutMs;
      const first = await send(
        {
          method: "POST",
          url: `${base}/v1/execute`,
          headers: { ...common, ...headersOf(own) },
          body,
          idempotencyKey,
          waitMs: asked,
          attemptsMax,
          deadline,
          signal,
        },
        readExecution,
      );

      // The rest of a wait that is longer than one request's.
      const until = begun + waitMs;
      const isEnough = (it: Execution): boolean => it.status === "held" || hasEnded(it);
      if (isEnough(first) || until - now() < LOOK_MS_MIN) return first;
      let last = first;
      try {
        await follow(until, signal, isEnough, async (rest) => {
          const limits = { waitMs: rest, attemptsMax, deadline: Math.min(until + ANSWER_MS, deadline) };
          last = await look(first.eventId, options, limits);
          return last;
        });
      } catch (error) {
        // It is accepted: not to see how it goes on is no failure of it.
        if (!isRetryable(error)) throw error;
      }
      return { ...last, replayed: first.replayed };
    },

    async execution(eventId, options = {}) {
      const waitMs = Math.min(durationOf("waitMs", options.waitMs ?? 0), WAIT_MS_MAX);
      return look(eventId, options, { waitMs, attemptsMax, deadline: now() + waitMs + TIMEOUT_BEYOND_WAIT_MS });
    },

    async waitForApproval(eventId, options = {}) {
      const until = now() + durationOf("timeoutMs", options.timeoutMs ?? Infinity);
      const last = await follow(until, options.signal, hasEnded, (waitMs) => {
        const deadline = Math.min(until, now() + waitMs + OUTAGE_MS_MAX);
        return look(eventId, options, { waitMs, attemptsMax: Infinity, deadline });
      });
      if (hasEnded(last)) return last;
      throw new CountersignError({ code: "timeout", detail: `It is still ${last.status}.`, retryable: true, eventId });
    },
  };
};
