import { randomBytes } from "node:crypto";
import { normalizeEmail } from "../../domain/account/email-address.ts";
import { readConfig } from "../config.ts";
import { ConfigError } from "../config-error.ts";
import { ownerLink } from "./account-recover.ts";
import { apiWith, Refusal, refusalOf } from "./api.ts";
import { type Env, type Terminal, UsageError } from "./command.ts";
import {
  isSessionKey,
  keepProfile,
  type Profile,
  profileOf,
  profilesFile,
  readProfiles,
  useProfile,
} from "./profiles.ts";

const PROFILE = "local";
export const FIRST_EMAIL = "owner@localhost";
const SOURCE = { name: "shop", type: "stripe" };
const PASSWORD_BYTES = 32;
const CALL_MS_MAX = 30_000;

/** Calls with the session of the account that was just made. */
class Session {
  readonly #base: string;
  #cookie = "";

  constructor(base: string) {
    this.#base = base;
  }

  async post<T>(path: string, body: object): Promise<T> {
    const url = new URL(`${this.#base}${path}`);
    const response = await fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: {
        "content-type": "application/json",
        "sec-fetch-site": "same-origin",
        ...(this.#cookie === "" ? {} : { cookie: this.#cookie }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_MS_MAX),
    });
    if (!response.ok) throw await refusalOf(response, url);
    this.#cookie = response.headers.get("set-cookie")?.split(";")[0] ?? this.#cookie;
    return (response.status === 204 ? null : await response.json()) as T;
  }
}

/**
 * The console at the address that the links have, because a browser keeps the session of 127.0.0.1 apart from that of
 * localhost.
 */
const consoleAt = (base: string, { PUBLIC_URL: publicUrl = "" }: Env): string =>
  publicUrl === "" ? base.replace("//127.0.0.1:", "//localhost:") : publicUrl.replace(/\/+$/, "");

type Next = { readonly base: string; readonly env: Env; readonly source: string | null };

/** How to go on. `source` is null if the account has none of that name any more. */
const next = ({ base, env, source }: Next): readonly string[] => [
  "Next, in other terminals:",
  "  npx countersign listen --forward http://localhost:3000",
  ...(source === null
    ? ["  npx countersign send --source <name> <event type>, where npx countersign sources list prints the names"]
    : [`  npx countersign send --source ${source} payment_intent.succeeded`]),
  `The console: ${consoleAt(base, env)}/`,
];

const isOfFirstRun = (name: string): boolean => name === PROFILE || name.startsWith(`${PROFILE}-`);

const acceptsKey = async ({ url, key }: Profile): Promise<boolean> => {
  try {
    await apiWith(url, key).get("/v1/capabilities");
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return false;
    throw error;
  }
};

/** The profile whose key this service accepts, so that its first run was made before; null if there is none. */
const madeBefore = async (base: string, env: Env): Promise<string | null> => {
  for (const [name, profile] of Object.entries(readProfiles(env).profiles)) {
    if (!isOfFirstRun(name) || profile.url !== base || isSessionKey(profile.key)) continue;
    if (await acceptsKey(profile)) return name;
  }
  return null;
};

/**
 * A name that no profile has: a key that is kept already may be the only one of another installation, which may also
 * have had the same address.
 */
const freeName = (base: string, env: Env): string => {
  const { profiles } = readProfiles(env);
  const own = `${PROFILE}-${new URL(base).port}`;
  for (let count = 0; ; count += 1) {
    const name = [PROFILE, own][count] ?? `${own}-${count}`;
    if (!Object.hasOwn(profiles, name)) return name;
  }
};

const whyNot = (error: Refusal, email: string): string =>
  error.status === 409
    ? `A first run was made already: ${email} has an account. countersign account recover ${email} makes a new link for ` +
      "its owner, and COUNTERSIGN_API_KEY or a profile gives this command line a key."
    : `The first run could not be finished: ${error.message}`;

const setUp = async (base: string, email: string, env: Env): Promise<readonly string[]> => {
  const session = new Session(base);
  // Nobody knows this password: the owner sets one with the link.
  const password = randomBytes(PASSWORD_BYTES).toString("base64url");
  await session.post("/v1/auth/signup", { email, password });
  const { key } = await session.post<{ key: string }>("/v1/api-keys", { name: "first run", role: "admin" });
  // The key is kept before anything else can fail, because it is shown only once.
  const name = freeName(base, env);
  const { current } = readProfiles(env);
  const file = keepProfile(env, name, { url: base, key });
  await session.post("/v1/sources", SOURCE);
  await session.post("/v1/auth/logout", {});
  return [
    `There is an account now, with a source "${SOURCE.name}" (${SOURCE.type}).`,
    `This command line has a key for it, as the profile "${name}" in ${file}.`,
    ...(current === null
      ? []
      : [`That profile is the current one. npx countersign profiles use ${current} goes back to the one before.`]),
    `Set the owner's password here, once and within an hour, and log in as ${email}:`,
    // The link is made from the service's own log, because nobody can make one for themselves over HTTP.
    `  ${await ownerLink({ ...env, PORT: new URL(base).port }, email)}`,
    ...next({ base, env, source: SOURCE.name }),
  ];
};

const again = async (base: string, name: string, env: Env): Promise<readonly string[]> => {
  useProfile(env, name);
  const { key } = profileOf(env, name) ?? { key: "" };
  const sources = await apiWith(base, key).get<{ data: readonly { name: string }[] }>("/v1/sources", { limit: 100 });
  const isThere = sources.data.some((source) => source.name === SOURCE.name);
  return [
    `The first run was made already. The command line's profile "${name}" is in place, and is the current one.`,
    ...next({ base, env, source: isThere ? SOURCE.name : null }),
  ];
};

/** Makes an account, its first source and a profile for the command line, and says how to go on. Never throws. */
export const firstRun = async (base: string, email: string, env: Env, { out, note }: Terminal): Promise<void> => {
  try {
    const name = await madeBefore(base, env);
    const lines = name === null ? await setUp(base, email, env) : await again(base, name, env);
    for (const line of ["", ...lines]) out(line);
  } catch (error) {
    if (!(error instanceof Refusal)) note(`The first run could not be finished: ${String(error)}`);
    else note(whyNot(error, email));
  }
};

/** False for a wrong configuration, about which the service has a sentence of its own. */
const isSignupClosed = (env: Env): boolean => {
  try {
    return readConfig(env).signup === "closed";
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
};

/** Refuses before the service starts what would make a first run fail after it. */
export const checkFirstRun = (env: Env, email: string): void => {
  if (normalizeEmail(email) === null) throw new UsageError(`--email "${email}" is no e-mail address.`);
  if (profilesFile(env) === null) throw new UsageError("--first-run keeps a profile: set HOME or XDG_CONFIG_HOME.");
  readProfiles(env);
  if (isSignupClosed(env))
    throw new UsageError(
      "--first-run needs open sign-up, as on this machine alone. Start without it: the link that it prints makes the first account.",
    );
};
