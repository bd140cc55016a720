import ipaddr from "ipaddr.js";
import type { Clock } from "../../domain/ports/clock.ts";

type Window = {
  readonly ok: boolean;
  /** What is left in this window, after this request. */
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  readonly resetS: number;
};

export type WindowCounter = {
  /** Counts one, if there is room below `limit`. */
  take(key: string, limit: number): Window;
  /** Takes one back: what was counted turned out not to be meant. */
  giveBack(key: string): void;
};

/**
 * Fixed windows in memory that begin with a key's first request. A count is the process's own, so two nodes let twice as
 * many through as one, and it is lost with the process. When more than `keysMax` windows are open the one that began first
 * is forgotten: memory stays bounded under a flood of keys.
 */
export const windowCounter = (clock: Clock, windowMs: number, keysMax: number): WindowCounter => {
  const windows = new Map<string, { count: number; readonly endsAt: number }>();

  const open = (key: string, now: number) => {
    const current = windows.get(key);
    // A clock that was set back must not keep a key locked for longer than a window.
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
 * Against guessed passwords and mass sign-ups. "failed-login-address" counts the guesses of one network for one address, so
 * that they lock nobody out elsewhere. "failed-login-slow" counts those of all networks for one address: above it an attempt
 * waits (`SLOW_LOGIN_MS`), and is still answered. Addresses are hashed by the caller, so that one mailbox is one key.
 */
export const ATTEMPT_LIMITS = {
  "signup-ip": { limit: 100, windowMs: HOUR_MS },
  "failed-login-ip": { limit: 100, windowMs: HOUR_MS },
  "failed-login-address": { limit: 10, windowMs: 15 * MINUTE_MS },
  "failed-login-slow": { limit: 100, windowMs: HOUR_MS },
} as const;
type AttemptKind = keyof typeof ATTEMPT_LIMITS;

/** A person waits so long once; somebody who guesses waits each time. */
export const SLOW_LOGIN_MS = 2_000;

/** About 150 bytes each. */
const ATTEMPT_KEYS_MAX = 100_000;

type Attempt = { readonly ok: true } | { readonly ok: false; readonly retryAfterS: number };

/**
 * Counts attempts. Take one *before* the password is checked and give it back when it was right: a hundred wrong
 * logins at once are then counted before the first of them is known to be wrong.
 */
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

/** Longer than any spelling of an address, with its zone and port. */
const NO_ADDRESS_LENGTH_MAX = 64;

/** What one customer of a provider holds: an IPv4 address, or the /64 of an IPv6 one (RFC 6177, section 2). */
export const network = (ip: string): string => {
  // A proxy that is believed has said it. Copied, as a part of a text keeps the whole of it in memory.
  if (!ipaddr.isValid(ip)) return Buffer.from(ip.slice(0, NO_ADDRESS_LENGTH_MAX)).toString();
  const address = ipaddr.process(ip);
  // `process` has unwrapped mapped IPv4 addresses; what is left with parts is IPv6.
  if (!("parts" in address)) return address.toString();
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
};

/** Principals and accounts within one minute. Each has a valid credential, so only a very large installation comes near. */
const API_KEYS_MAX = 100_000;

/** The API's own limits, as `takeRequest` counts them. */
export const apiRate = (clock: Clock): WindowCounter => windowCounter(clock, MINUTE_MS, API_KEYS_MAX);

/** Who makes a request: a credential, and the account's credentials of this kind, which have a limit together. */
export type Requester = {
  readonly credential: string;
  readonly kind: "session" | "key" | "agent";
  readonly account: string;
};

/** Requests a minute. */
export type RequestLimits = { readonly credential: number; readonly account: number };

/** "api" is the limit of one credential, "account" that of all of its kind together; of the two the one with less left. */
export type RequestWindow = Window & { readonly policy: "api" | "account"; readonly limit: number };

/**
 * What a session may do when the sessions of its account have used up their limit together: enough to look at an approval
 * and decide it, so that no member's program keeps another member out.
 */
const SESSION_SHARE = 60;

/**
 * Counts a request for its credential and for its account. Sessions, keys and agents are counted apart: a program that
 * loops never keeps people out who have to stop it.
 */
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

/** draft-ietf-httpapi-ratelimit-headers-08: one policy in a window of 60 seconds. */
export const rateLimitHeaders = ({
  policy,
  limit,
  remaining,
  resetS,
}: RequestWindow): Readonly<Record<string, string>> => ({
  "ratelimit-policy": `"${policy}";q=${limit};w=60`,
  ratelimit: `"${policy}";r=${remaining};t=${resetS}`,
});
