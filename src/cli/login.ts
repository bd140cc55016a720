import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { type Api, apiAt, apiWith, baseOf, isPassing, Refusal } from "./api.ts";
import { type Command, UsageError } from "./command.ts";
import { json } from "./formats.ts";
import { isSessionKey, keepProfile, type Profile, placeFor } from "./profiles.ts";

const CLIENT = "countersign-cli";
const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code";
/** The name that the person sees on the page; the service takes no longer one. */
const NAME_LENGTH_MAX = 64;
/** What the interval grows by each time the service says that it is asked too often (RFC 8628, section 3.5). */
const SLOWER_S = 5;

type Device = {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
};

type Me = { readonly account: { readonly name: string }; readonly member: { readonly email: string; role: string } };

/** Asks until the person has decided. A service that cannot be reached for a moment is asked again. */
const tokenOf = async (api: Api, { device_code, interval, expires_in }: Device): Promise<string> => {
  let everyS = interval;
  for (const until = performance.now() + expires_in * 1_000; performance.now() < until; ) {
    await pause(everyS * 1_000);
    try {
      const body = { client_id: CLIENT, grant_type: GRANT_TYPE, device_code };
      return (await api.post<{ access_token: string }>("/v1/auth/device/token", body)).body.access_token;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code === "slow-down") everyS += SLOWER_S;
      else if (error.code !== "authorization-pending" && !isPassing(error)) throw error;
    }
  }
  throw new Error("The code has expired before anybody decided. Run countersign login again.");
};

/** The login stands whether or not the session before it could be ended, so a failure is a note. */
const endReplaced = async ({ url, key }: Profile, note: (line: string) => void): Promise<void> => {
  try {
    await apiWith(url, key).send("POST", "/v1/auth/logout");
  } catch (error) {
    // A session that has ended already needs no end.
    if (error instanceof Refusal && error.status === 401) return;
    const why = error instanceof Error ? error.message : String(error);
    note(`The session that this login replaces could not be ended: ${why}`);
    note(`End it in the settings of ${url}, under "Command line"; it ends by itself after two weeks.`);
  }
};

export const login: Command = {
  synopsis: "[--url <url>] [--profile <name>] [--json]",
  help: [
    "Logs this command line in as a person: prints a code and an address, and waits until the person lets it in",
    "on the console's page. It gets a session of that person, which is kept in a profile that only you can read,",
    "is never printed, and ends after two weeks, by countersign logout, or in the console's settings. A login",
    "under the same profile ends the session before it.",
    "--url <url>       the service; default: COUNTERSIGN_URL, or http://localhost:8080",
    "--profile <name>  the profile that is made or replaced; default: the host of the service",
    "--json            prints the profile, the account and the member as JSON",
  ],
  options: { url: { type: "string" }, profile: { type: "string" }, json: { type: "boolean" } },
  async run({ positionals, options }, env, { out, note }) {
    if (positionals.length > 0) throw new UsageError("login takes options only.");
    const base = baseOf(options.url ?? env.COUNTERSIGN_URL);
    const name = String(options.profile ?? new URL(base).hostname.replaceAll(/[^A-Za-z0-9.-]/g, ""));
    // A session that cannot be kept would stay open without anybody who has it, so this is found out before one is asked for.
    placeFor(env, name);
    const stranger = apiAt({ base, key: null });
    const asking = { client_id: CLIENT, device_name: hostname().slice(0, NAME_LENGTH_MAX) };
    const { body: device } = await stranger.post<Device>("/v1/auth/device", asking);
    note(`Open ${device.verification_uri_complete}`);
    note(`and compare the code ${device.user_code}. This waits until you let this command line in.`);
    const key = await tokenOf(stranger, device);
    const { profiles } = placeFor(env, name).known;
    const replaced = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
    const file = keepProfile(env, name, { url: base, key });
    if (replaced !== undefined && isSessionKey(replaced.key)) await endReplaced(replaced, note);
    const { account, member } = await apiAt({ base, key }).get<Me>("/v1/auth/me");
    if (options.json === true) out(json({ profile: name, account, member }));
    else out(`You are logged in as ${member.email} (${member.role}) in ${account.name}.`);
    note(`The session is the profile "${name}" in ${file}.`);
  },
};
