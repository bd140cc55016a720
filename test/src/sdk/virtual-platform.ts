import type { FetchAnswer, FetchCall, Platform } from "../../../src/sdk/platform.ts";

type Sent = {
  readonly url: string;
  readonly at: number;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
};

/** What is answered to one request; throws when there is no answer. */
export type Responder = (sent: Sent) => FetchAnswer | Promise<FetchAnswer>;

export type VirtualPlatform = Platform & {
  /** Everything that was sent, with the time at which it was. */
  readonly sent: readonly Sent[];
  /** How many timers have not fired and were not cancelled. */
  timers(): number;
};

type Timer = { readonly at: number; readonly run: () => void };

export const answer = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): FetchAnswer => ({
  status,
  headers: { get: (name) => headers[name.toLowerCase()] ?? null },
  text: async () => (typeof body === "string" ? body : JSON.stringify(body)),
});

export const problem = (
  status: number,
  code: string,
  more: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): FetchAnswer =>
  answer(status, { type: `/problems/${code}`, status, code, detail: `It is ${code}.`, ...more }, headers);

export const EVENT = "evt_abcdefghijklmnopqrstuvwxyz234567";

export const VERDICT = {
  decision: "allow",
  policy: { id: "pol_a", version: 3 },
  gates: [{ gate: "budget", outcome: "allow", code: "ok", detail: "0.02 of 250.00 EUR" }],
} as const;

export const delivered = (body: unknown = { refund: "re_1" }, headers: Record<string, string> = {}): FetchAnswer =>
  answer(
    200,
    { event_id: EVENT, status: "delivered", result: { status_code: 201, body }, verdict: VERDICT, cost_eur: 0.02 },
    headers,
  );

export const state = (status: string, more: Record<string, unknown> = {}, http = 202): FetchAnswer =>
  answer(http, { event_id: EVENT, status, ...more });

export const BUNDLE = "bun_abcdefghijklmnopqrstuvwxyz234567";

/** A bundle of two steps; nothing of it was done unless `more` says so. */
export const bundleState = (status: string, more: Record<string, unknown> = {}, http = 202): FetchAnswer => {
  const step = { status: "pending", event_id: null, compensation_event_id: null, result: null };
  const steps = [
    { index: 0, action: "order.create", ...step },
    { index: 1, action: "mail.send", ...step },
  ];
  return answer(http, {
    id: BUNDLE,
    name: null,
    status,
    steps,
    verdict: VERDICT,
    cost_eur: 0.5,
    run_id: null,
    ...more,
  });
};

export const unreachable: Responder = () => {
  throw new TypeError("fetch failed");
};

/**
 * Answers the first request by the first responder, and all beyond the last one by the last one. Time stands still while
 * anything can go on without it, then goes to the next timer.
 */
export const virtualPlatform = (
  responders: readonly Responder[],
  { random = () => 0.5 }: { readonly random?: () => number } = {},
): VirtualPlatform => {
  const sent: Sent[] = [];
  const timers = new Set<Timer>();
  let time = 0;
  let isGoing = false;
  let keys = 0;

  const goOn = (): void => {
    isGoing = false;
    const [next] = [...timers].sort((one, other) => one.at - other.at);
    if (next === undefined || next.at === Number.POSITIVE_INFINITY) return;
    time = next.at;
    timers.delete(next);
    next.run();
    go();
  };
  const go = (): void => {
    if (isGoing) return;
    isGoing = true;
    // After all that can happen at this time: promises settle before.
    setImmediate(goOn);
  };

  return {
    sent,
    timers: () => timers.size,
    async fetch(url: string, { method, headers, body, signal }: FetchCall) {
      const it = { url, at: time, method, headers, body, signal };
      sent.push(it);
      const responder = responders[Math.min(sent.length, responders.length) - 1];
      if (responder === undefined) throw new Error("nothing answers");
      return responder(it);
    },
    now: () => time,
    after(ms, run) {
      const timer = { at: time + Math.max(ms, 0), run };
      timers.add(timer);
      go();
      return () => timers.delete(timer);
    },
    random,
    newKey: () => {
      keys += 1;
      return `key-${keys}`;
    },
  };
};
