import ipaddr from "ipaddr.js";
import type { Clock } from "../../domain/ports/clock.ts";

type Window = {
  readonly ok: boolean;
  readonly remaining: number;
  readonly resetS: number;
};

export type WindowCounter = {
  take(key: string, limit: number): Window;
  giveBack(key: string): void;
};

/**
 * Counts in fixed windows and in memory, so two nodes together allow twice as much as one. Beyond `keysMax` windows the
 * oldest is forgotten, so that a flood of keys cannot fill the memory.
 */
export const windowCounter = (clock: Clock, windowMs: number, keysMax: number): WindowCounter => {
  const windows = new Map<string, { count: number; readonly endsAt: number }>();

  const open = (key: string, now: number) => {
    const current = windows.get(key);
    // A window that ends too late, because the clock was set back, is replaced, so that no key stays locked for longer.
    if (current !== undefined && now < current.endsAt && current.endsAt <= now + windowMs) return current;
    windows.delete(key);
    if (windows.size >= keysMax) {
      for (const first of windows.keys()) {
        windows.delete(first);
        break;
      }
    }
    const fresh = { count: 0, endsAt: now + windowMs };
    windows.set(key, fresh);
    return fresh;
  };

  return {
    take(key, limit) {
      const now = clock.now();
      const window = open(key, now);
      const ok = window.count < limit;
      if (ok) window.count += 1;
      const resetS = Math.max(1, Math.ceil((window.endsAt - now) / 1000));
      return { ok, remaining: Math.max(0, limit - window.count), resetS };
    },
    giveBack(key) {
      const window = windows.get(key);
      if (window !== undefined && window.count > 0) window.count -= 1;
    },
  };
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * "failed-login-address" counts the wrong passwords of one network for one mailbox, so that an attacker cannot lock the
 * owner out. "user-code" counts a member's wrong user codes, "device-login-ip" a network's requests for one.
 * "failed-login-slow" counts those of all networks: beyond it each guess is delayed by `SLOW_LOGIN_MS`.
 */
export const ATTEMPT_LIMITS = {
  "signup-ip": { limit: 100, windowMs: HOUR_MS },
  "failed-login-ip": { limit: 100, windowMs: HOUR_MS },
  "failed-login-address": { limit: 10, windowMs: 15 * MINUTE_MS },
  "device-login-ip": { limit: 60, windowMs: HOUR_MS },
  "user-code": { limit: 10, windowMs: 15 * MINUTE_MS },
  "failed-login-slow": { limit: 100, windowMs: HOUR_MS },
} as const;
type AttemptKind = keyof typeof ATTEMPT_LIMITS;

export const SLOW_LOGIN_MS = 2_000;

const ATTEMPT_KEYS_MAX = 100_000;

type Attempt = { readonly ok: true } | { readonly ok: false; readonly retryAfterS: number };

/** An attempt is taken before the password is checked and given back if that was right, so parallel guesses count. */
export type Attempts = {
  take(kind: AttemptKind, key: string): Attempt;
  giveBack(kind: AttemptKind, key: string): void;
};

export const attempts = (clock: Clock): Attempts => {
  const counterOf = (kind: AttemptKind) => windowCounter(clock, ATTEMPT_LIMITS[kind].windowMs, ATTEMPT_KEYS_MAX);
  const counters: Readonly<Record<AttemptKind, WindowCounter>> = {
    "signup-ip": counterOf("signup-ip"),
    "failed-login-ip": counterOf("failed-login-ip"),
    "failed-login-address": counterOf("failed-login-address"),
    "device-login-ip": counterOf("device-login-ip"),
    "user-code": counterOf("user-code"),
    "failed-login-slow": counterOf("failed-login-slow"),
  };
  const keyOf = (kind: AttemptKind, key: string): string => (kind.endsWith("-ip") ? network(key) : key);
  return {
    take(kind, key) {
      const { ok, resetS } = counters[kind].take(keyOf(kind, key), ATTEMPT_LIMITS[kind].limit);
      return ok ? { ok } : { ok: false, retryAfterS: resetS };
    },
    giveBack: (kind, key) => counters[kind].giveBack(keyOf(kind, key)),
  };
};

const NO_ADDRESS_LENGTH_MAX = 64;

/** The network counted as one client: an IPv4 address, or 64 bits of IPv6, the least that a customer has (RFC 6177). */
export const network = (ip: string): string => {
  // The text comes from a proxy's header. A copy is kept, as a slice would keep the whole header in memory.
  if (!ipaddr.isValid(ip)) return Buffer.from(ip.slice(0, NO_ADDRESS_LENGTH_MAX)).toString();
  const address = ipaddr.process(ip);
  if (!("parts" in address)) return address.toString();
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
};

const API_KEYS_MAX = 100_000;

export const apiRate = (clock: Clock): WindowCounter => windowCounter(clock, MINUTE_MS, API_KEYS_MAX);

export type Requester = {
  readonly credential: string;
  readonly kind: "session" | "key" | "agent";
  readonly account: string;
};

export type RequestLimits = { readonly credential: number; readonly account: number };

export type RequestWindow = Window & { readonly policy: "api" | "account"; readonly limit: number };

/** Each session may make so many requests a minute, to decide approvals, even if others use up the account's limit. */
const SESSION_SHARE = 60;

/** Sessions, keys and agents are counted apart: a program in a loop cannot lock out the people who have to stop it. */
export const takeRequest = (rate: WindowCounter, requester: Requester, limits: RequestLimits): RequestWindow => {
  const { credential, kind, account } = requester;
  const own = rate.take(`${kind} ${credential}`, limits.credential);
  const ownWindow = { ...own, policy: "api", limit: limits.credential } as const;
  if (!own.ok) return ownWindow;
  const all = rate.take(`all ${kind} ${account}`, limits.account);
  const hasShare = kind === "session" && limits.credential - own.remaining <= SESSION_SHARE;
  if (!all.ok && !hasShare) {
    rate.giveBack(`${kind} ${credential}`);
    return { ...all, policy: "account", limit: limits.account };
  }
  return all.ok && all.remaining < own.remaining ? { ...all, policy: "account", limit: limits.account } : ownWindow;
};

/** Headers of draft-ietf-httpapi-ratelimit-headers-08, which name one limit and its window of 60 seconds. */
export const rateLimitHeaders = ({
  policy,
  limit,
  remaining,
  resetS,
}: RequestWindow): Readonly<Record<string, string>> => ({
  "ratelimit-policy": `"${policy}";q=${limit};w=60`,
  ratelimit: `"${policy}";r=${remaining};t=${resetS}`,
});
