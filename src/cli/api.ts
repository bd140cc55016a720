import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { defined } from "../../domain/defined.ts";
import { type Arguments, type Env, UsageError } from "./command.ts";
import { currentProfile, isSessionKey, readProfiles } from "./profiles.ts";

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
  post<T>(path: string, body: unknown): Promise<Done<T>>;
  /** As `post`, with the body as it is to be sent; without one none is sent. The answer's body is null after a 204. */
  send<T>(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, text?: string): Promise<Done<T>>;
  /** For answers other than JSON. A caller that gives a `signal` gets neither a timeout nor retries. */
  open(path: string, headers?: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Response>;
};

export type Done<T> = { readonly body: T; readonly position: string | null };

export type Query = Readonly<Record<string, string | number | undefined>>;

/** A problem that the service answered with; `status` is 0 if the service cannot be reached. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly retryAfterS: number | null;
  /** The problem's code; null if the answer is no problem. */
  readonly code: string | null;
  constructor(
    message: string,
    status: number,
    { retryAfterS = null, code = null }: { retryAfterS?: number | null; code?: string | null } = {},
  ) {
    super(message);
    this.status = status;
    this.retryAfterS = retryAfterS;
    this.code = code;
  }
}

export const API_OPTIONS = {
  url: { type: "string" },
  key: { type: "string" },
  profile: { type: "string" },
  json: { type: "boolean" },
} as const;

export const API_SYNOPSIS = "[--json]";
export const API_HELP = [
  "--json       for scripts: JSON, one document a line",
  "--url <url>  the service; default: COUNTERSIGN_URL, the profile's, or http://localhost:8080",
  "--key <key>  a key of the account (csk_…), which other users of the machine can see here; better",
  "             COUNTERSIGN_API_KEY, or a profile",
  "--profile <name>  a profile of login or serve --first-run; default: COUNTERSIGN_PROFILE, or the current one",
] as const;

const URL_DEFAULT = "http://localhost:8080";
const CALL_MS_MAX = 30_000;
const TRIES_MAX = 6;
const RETRY_S_MAX = 60;
/** A key of the account, or a person's session that `countersign login` has made. */
const KEY = /^cs[ks]_[\x21-\x7e]+$/;

export const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

type Told = { readonly message: string; readonly code: string | null };

const problemOf = async (response: Response): Promise<Told> => {
  type Body = { detail?: unknown; errors?: unknown; code?: unknown };
  // What is used of the answer is checked below.
  const body = (await response.json().catch(() => null)) as Body | null;
  const detail = typeof body?.detail === "string" ? body.detail : "";
  const errors = Array.isArray(body?.errors) ? (body.errors as { path: string; message: string }[]) : [];
  // A detail may say the same as the list of what is wrong.
  const more = errors.map(({ path, message }) => `${path} ${message}`).filter((it) => !detail.includes(it));
  const code = typeof body?.code === "string" ? body.code : null;
  if (more.length === 0) return { message: detail, code };
  const list = `${more.map((it) => it.replace(/\.$/, "")).join("; ")}.`;
  return { message: detail === "" ? list : `${detail.replace(/\.$/, "")}; ${list}`, code };
};

export const refusalOf = async (response: Response, url: URL): Promise<Refusal> => {
  const { message: said, code } = await problemOf(response);
  const after = Number(response.headers.get("retry-after") ?? Number.NaN);
  const message = said === "" ? `${url.origin}${url.pathname} answered with the status ${response.status}` : said;
  return new Refusal(message, response.status, { retryAfterS: Number.isFinite(after) ? after : null, code });
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

type Settings = {
  readonly base: string;
  readonly key: string | null;
  /** Where the key was found, as it is named to a person: "the profile local". */
  readonly keyFrom?: string;
};

const withoutSlash = (url: string): string => url.replace(/\/+$/, "");

const textOf = (value: string | boolean | undefined): string | null =>
  typeof value === "string" && value !== "" ? value : null;

export const baseOf = (given: string | boolean | undefined): string => {
  const base = withoutSlash(textOf(given) ?? URL_DEFAULT);
  if (!isHttpUrl(base)) throw new UsageError("The service is named by an http or https URL (--url, COUNTERSIGN_URL).");
  return base;
};

const settingsOf = ({ options }: Pick<Arguments, "options">, env: Env): Settings => {
  const givenUrl = textOf(options.url ?? env.COUNTERSIGN_URL);
  const givenKey = textOf(options.key ?? env.COUNTERSIGN_API_KEY);
  const named = textOf(options.profile ?? env.COUNTERSIGN_PROFILE);
  const found = givenKey === null || named !== null ? currentProfile(env, named ?? undefined) : null;
  const base = baseOf(givenUrl ?? found?.profile.url);
  // A profile's key goes to the profile's own address only.
  const own = found !== null && withoutSlash(found.profile.url) === base ? found.profile.key : null;
  const key = givenKey ?? own;
  const given = options.key === undefined ? "COUNTERSIGN_API_KEY" : "--key";
  const keyFrom = givenKey === null ? `the profile "${found?.name}"` : given;
  // The message does not repeat the key.
  if (key !== null && !KEY.test(key))
    throw new UsageError("A key of the account begins with csk_ (--key, COUNTERSIGN_API_KEY).");
  return { base, key, keyFrom };
};

export const apiAt = ({ base, key, keyFrom }: Settings): Api => {
  const call = async (url: URL, init: RequestInit): Promise<Response> => {
    // Redirects are not followed, because a redirect would send the key to another address.
    const response = await fetch(url, { ...init, redirect: "manual" }).catch((error: Error) => {
      throw new Refusal(`${url.origin} cannot be reached: ${String(error.cause ?? error.message)}`, 0);
    });
    if (response.ok) return response;
    const refusal = await refusalOf(response, url);
    if (response.status !== 401 || key === null || keyFrom === undefined) throw refusal;
    throw new Refusal(
      `${refusal.message.replace(/\.$/, "")}. The key came from ${keyFrom} and was sent to ${url.origin}.`,
      401,
      refusal,
    );
  };

  const headersOf = (more: Readonly<Record<string, string>>): Record<string, string> => ({
    // The console shows it beside the session that this command line asks for.
    "user-agent": `countersign-cli (${process.platform})`,
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

  const send: Api["send"] = async <T>(method: string, path: string, text?: string): Promise<Done<T>> => {
    const typed = text === undefined ? {} : { "content-type": "application/json" };
    const headers = headersOf({ "idempotency-key": randomUUID(), ...typed });
    const response = await patiently(urlOf(path), { method, headers, ...defined({ body: text }) });
    // `T` is the caller's word for the answer; it is null where the API answers 204.
    const body = (response.status === 204 ? null : await response.json()) as T;
    return { body, position: response.headers.get("countersign-position") };
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
    post: (path, body) => send("POST", path, JSON.stringify(body)),
    send,
    open: (path, headers = {}, signal) =>
      signal === undefined
        ? patiently(urlOf(path), { headers: headersOf(headers) })
        : call(urlOf(path), { headers: headersOf(headers), signal }),
  };
};

export const apiOf = (args: Pick<Arguments, "options">, env: Env): Api => {
  const settings = settingsOf(args, env);
  if (settings.key === null) {
    const names = Object.keys(readProfiles(env).profiles);
    const there =
      names.length === 0 ? "" : ` There are the profiles ${names.join(", ")}: countersign profiles use <name>.`;
    throw new UsageError(
      `This needs a key of the account (csk_…) or a person: COUNTERSIGN_API_KEY, --key, a profile, or countersign login.${there}`,
    );
  }
  return apiAt(settings);
};

/** Whether the calls are those of a person with a session, and not of an account's key. */
export const isPerson = (args: Pick<Arguments, "options">, env: Env): boolean => {
  const { key } = settingsOf(args, env);
  return key !== null && isSessionKey(key);
};

export const apiWith = (base: string, key: string): Api => apiAt({ base, key });

/** For routes that need no key. `hasKey` says whether calls carry one. */
export const apiOrNone = (
  args: Pick<Arguments, "options">,
  env: Env,
): { readonly api: Api; readonly hasKey: boolean } => {
  const settings = settingsOf(args, env);
  return { api: apiAt(settings), hasKey: settings.key !== null };
};
