import ipaddr from "ipaddr.js";
import type { Clock } from "../../domain/ports.ts";

export type Window = {
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
export type AttemptKind = keyof typeof ATTEMPT_LIMITS;

/** A person waits so long once; somebody who guesses waits each time. */
export const SLOW_LOGIN_MS = 2_000;

/** About 150 bytes each. */
const ATTEMPT_KEYS_MAX = 100_000;

export type Attempt = { readonly ok: true } | { readonly ok: false; readonly retryAfterS: number };

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

/** Principals within one minute. Each has a valid credential, so only a very large installation comes near. */
const API_KEYS_MAX = 100_000;

/** The API's own limit: requests a minute for each key or session. */
export const apiRate = (clock: Clock): WindowCounter => windowCounter(clock, MINUTE_MS, API_KEYS_MAX);

/** draft-ietf-httpapi-ratelimit-headers-08: one policy, named "api", in a window of 60 seconds. */
export const rateLimitHeaders = (limit: number, window: Window): Readonly<Record<string, string>> => ({
  "ratelimit-policy": `"api";q=${limit};w=60`,
  ratelimit: `"api";r=${window.remaining};t=${window.resetS}`,
});
