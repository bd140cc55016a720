import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { defined } from "../../domain/defined.ts";
import { type Arguments, type Env, UsageError } from "./command.ts";

/** `T` is the type that the API's description gives an answer; answers are not checked against it. */
export type Api = {
  readonly origin: string;
  /** The service's address, with any path that a proxy puts before the routes, without a slash at the end. */
  readonly base: string;
  get<T>(path: string, query?: Query): Promise<T>;
  /**
   * Sends an Idempotency-Key, so that it may be repeated after a lost answer. A read sent with `position` as its
   * `after` sees the change.
   */
  post<T>(path: string, body: unknown): Promise<{ readonly body: T; readonly position: string | null }>;
  /** For answers other than JSON. A caller that gives a `signal` gets neither a timeout nor retries. */
  open(path: string, headers?: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Response>;
};

export type Query = Readonly<Record<string, string | number | undefined>>;

/** A problem that the service answered with; `status` is 0 if the service cannot be reached. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly retryAfterS: number | null;
  constructor(message: string, status: number, retryAfterS: number | null = null) {
    super(message);
    this.status = status;
    this.retryAfterS = retryAfterS;
  }
}

export const API_OPTIONS = {
  url: { type: "string" },
  key: { type: "string" },
  json: { type: "boolean" },
} as const;

export const API_SYNOPSIS = "[--json]";
export const API_HELP = [
  "--json       for scripts: JSON, one document a line",
  "--url <url>  the service; default: COUNTERSIGN_URL, or http://localhost:8080",
  "--key <key>  a key of the account (csk_…); default: COUNTERSIGN_API_KEY, which other users cannot see",
] as const;

const URL_DEFAULT = "http://localhost:8080";
const CALL_MS_MAX = 30_000;
const TRIES_MAX = 6;
const RETRY_S_MAX = 60;
const KEY = /^csk_[\x21-\x7e]+$/;

export const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

const problemOf = async (response: Response): Promise<string> => {
  const body = (await response.json().catch(() => null)) as { detail?: unknown; errors?: unknown } | null;
  const detail = typeof body?.detail === "string" ? body.detail : "";
  const errors = Array.isArray(body?.errors) ? (body.errors as { path: string; message: string }[]) : [];
  return [detail, ...errors.map(({ path, message }) => `${path} ${message}`)].filter((it) => it !== "").join("; ");
};

const refusalOf = async (response: Response, url: URL): Promise<Refusal> => {
  const said = await problemOf(response);
  const after = Number(response.headers.get("retry-after") ?? Number.NaN);
  const message = said === "" ? `${url.origin}${url.pathname} answered with the status ${response.status}` : said;
  return new Refusal(message, response.status, Number.isFinite(after) ? after : null);
};

/** The service is not reached (0), refuses for now (429, 503), or is behind a proxy that cannot reach it (502, 504). */
const PASSING: ReadonlySet<number> = new Set([0, 429, 502, 503, 504]);

export const isPassing = (error: unknown): error is Refusal => error instanceof Refusal && PASSING.has(error.status);

const BACKOFF_MS_MAX = 30_000;

/** Waits 1 s after the first failure in a row, then 2 s, 4 s and so on, at most 30 s. */
export const backOff = (failures: number): Promise<void> =>
  pause(Math.min(1_000 * 2 ** (failures - 1), BACKOFF_MS_MAX));

export const untilAnswered = async <T>(call: () => Promise<T>): Promise<T> => {
  for (let failures = 1; ; failures += 1) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error)) throw error;
      await backOff(failures);
    }
  }
};

type Settings = { readonly base: string; readonly key: string | null };

const settingsOf = ({ options }: Pick<Arguments, "options">, env: Env): Settings => {
  const base = String(options.url ?? (env.COUNTERSIGN_URL || URL_DEFAULT));
  if (!isHttpUrl(base)) throw new UsageError("The service is named by an http or https URL (--url, COUNTERSIGN_URL).");
  const key = options.key ?? (env.COUNTERSIGN_API_KEY || null);
  // The message does not repeat the key.
  if (key !== null && !KEY.test(String(key)))
    throw new UsageError("A key of the account begins with csk_ (--key, COUNTERSIGN_API_KEY).");
  return { base: base.replace(/\/+$/, ""), key: key === null ? null : String(key) };
};

const apiAt = ({ base, key }: Settings): Api => {
  const call = async (url: URL, init: RequestInit): Promise<Response> => {
    // Redirects are not followed, because a redirect would send the key to another address.
    const response = await fetch(url, { ...init, redirect: "manual" }).catch((error: Error) => {
      throw new Refusal(`${url.origin} cannot be reached: ${String(error.cause ?? error.message)}`, 0);
    });
    if (response.ok) return response;
    throw await refusalOf(response, url);
  };

  const headersOf = (more: Readonly<Record<string, string>>): Record<string, string> => ({
    ...defined({ authorization: key === null ? undefined : `Bearer ${key}` }),
    ...more,
  });

  const patiently = async (url: URL, init: RequestInit): Promise<Response> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call(url, { ...init, signal: AbortSignal.timeout(CALL_MS_MAX) });
      } catch (error) {
        // Without `Retry-After`, as when the service cannot be reached, the call fails at once.
        const mayWait = isPassing(error) && error.retryAfterS !== null && attempt < TRIES_MAX;
        if (!mayWait) throw error;
        await pause(Math.min(error.retryAfterS ?? 1, RETRY_S_MAX) * 1_000);
      }
    }
  };

  const urlOf = (path: string, query: Query = {}): URL => {
    const url = new URL(`${base}${path}`);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, `${value}`);
    return url;
  };

  return {
    origin: new URL(base).origin,
    base,
    async get<T>(path: string, query?: Query) {
      const url = urlOf(path, query);
      const response = await patiently(url, { headers: headersOf({ accept: "application/json" }) });
      return (await response.json().catch(() => {
        throw new Error(`${url.origin}${url.pathname} answered with ${response.status}, but without JSON`);
      })) as T;
    },
    async post<T>(path: string, body: unknown) {
      const headers = headersOf({ "content-type": "application/json", "idempotency-key": randomUUID() });
      const response = await patiently(urlOf(path), { method: "POST", headers, body: JSON.stringify(body) });
      return { body: (await response.json()) as T, position: response.headers.get("countersign-position") };
    },
    open: (path, headers = {}, signal) =>
      signal === undefined
        ? patiently(urlOf(path), { headers: headersOf(headers) })
        : call(urlOf(path), { headers: headersOf(headers), signal }),
  };
};

export const apiOf = (args: Pick<Arguments, "options">, env: Env): Api => {
  const settings = settingsOf(args, env);
  if (settings.key === null)
    throw new UsageError("This needs a key of the account (csk_…): --key, or COUNTERSIGN_API_KEY.");
  return apiAt(settings);
};

/** For routes that need no key. `hasKey` says whether calls carry one. */
export const apiOrNone = (
  args: Pick<Arguments, "options">,
  env: Env,
): { readonly api: Api; readonly hasKey: boolean } => {
  const settings = settingsOf(args, env);
  return { api: apiAt(settings), hasKey: settings.key !== null };
};
