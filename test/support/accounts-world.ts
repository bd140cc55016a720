import type { Role } from "../../domain/account/events.ts";
import { PLANS } from "../../domain/account/plans.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { passwords } from "../../infra/crypto/passwords.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { secretBox } from "../../infra/crypto/secret-box.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../infra/memory/view-store.ts";
import { apiKeys } from "../../projections/api-keys.ts";
import { audit } from "../../projections/audit.ts";
import { members } from "../../projections/members.ts";
import { sessions as sessionsView } from "../../projections/sessions.ts";
import { accounts } from "../../src/accounts/account-commands.ts";
import { accountReactions } from "../../src/accounts/account-reactions.ts";
import { credentialHashes } from "../../src/accounts/credential-hashes.ts";
import { credentials } from "../../src/accounts/credentials.ts";
import { DeviceLogins } from "../../src/accounts/device-logins.ts";
import { links } from "../../src/accounts/links.ts";
import { memberLinks } from "../../src/accounts/member-links.ts";
import { releasedClaimReactions } from "../../src/accounts/released-claims.ts";
import { sessionRoom } from "../../src/accounts/session-room.ts";
import { sessions } from "../../src/accounts/sessions.ts";
import { startLinks } from "../../src/accounts/start-links.ts";
import type { Controls } from "../../src/change-control/control-change.ts";
import type { Signup } from "../../src/config.ts";
import { personalData } from "../../src/erasure/personal-data.ts";
import { passwordGuesses } from "../../src/http/password-guesses.ts";
import { attempts } from "../../src/http/rate-limit.ts";
import type { Call, Principal } from "../../src/http/route.ts";
import { accountRoutes } from "../../src/routes/accounts/account.ts";
import { apiKeyRoutes } from "../../src/routes/accounts/api-keys.ts";
import { authRoutes } from "../../src/routes/accounts/auth.ts";
import { deviceRoutes } from "../../src/routes/accounts/device.ts";
import { linkRoutes } from "../../src/routes/accounts/links.ts";
import { memberRoutes } from "../../src/routes/accounts/members.ts";
import { sessionRoutes } from "../../src/routes/accounts/sessions.ts";
import { aggregates } from "../../src/streams/aggregates.ts";
import type { ViewProgress } from "../../src/views/view-progress.ts";
import { AT, type Called, caller } from "./call.ts";
import { foldInto } from "./fold-into.ts";
import { PUBLIC_URL } from "./http-app.ts";
import { tokenOf } from "./members.ts";
import { noControls } from "./no-controls.ts";
import { planSlots } from "./plan-slots.ts";

const PROJECTIONS = [members, sessionsView, apiKeys, audit];
export const PASSWORD = "correct horse battery";

/** `progress`: of the views; left out, they are folded whenever a route waits for them. */
type Settings = {
  readonly line?: object;
  readonly signup?: Signup;
  readonly progress?: Pick<ViewProgress, "waitFor">;
  readonly controls?: Controls;
};

/** One node: what it keeps in memory is its own, the log is not. */
const node = (
  log: EventLog,
  views: ViewStore,
  clock: Clock,
  key: Uint8Array,
  { line = {}, signup = "open", progress, controls = noControls }: Settings,
) => {
  const streams = aggregates(log, clock);
  const box = secretBox(key, randomness);
  const personal = personalData(log, randomness);
  const hashes = credentialHashes(key);
  const all = accounts({
    aggregates: streams,
    personal,
    randomness,
    box,
    passwords: passwords(line),
    hashes,
    signupPlan: "free",
  });
  const tries = attempts(clock);
  const slots = planSlots(log, clock, streams, PLANS.free);
  const pauses: number[] = [];
  const linking = links(key, randomness);
  const starting = startLinks({ log, aggregates: streams, links: linking, clock, randomness });
  const deps = {
    accounts: all,
    memberLinks: memberLinks({ aggregates: streams, links: linking, hashes, personal, randomness }),
    sessions: sessions({
      ...{ aggregates: streams, hashes, personal, clock, randomness, slots },
      makeRoom: sessionRoom({ aggregates: streams, slots }),
    }),
    attempts: tries,
    signup,
    startLinks: starting,
    deviceLogins: new DeviceLogins({ aggregates: streams, hashes, personal, clock, randomness }),
    guesses: passwordGuesses(tries, async (ms) => pauses.push(ms)),
    publicUrl: () => PUBLIC_URL,
    personal,
    aggregates: streams,
    clock,
    views,
    hashes,
    controls,
    log,
    progress: progress ?? {
      async waitFor() {
        await foldInto(log, views, PROJECTIONS);
        return true;
      },
    },
    randomness,
  };
  const routes = [
    ...authRoutes(deps),
    ...linkRoutes(deps),
    ...deviceRoutes(deps),
    ...sessionRoutes(deps),
    ...memberRoutes(deps),
    ...apiKeyRoutes(deps),
    ...accountRoutes(deps),
  ];
  return {
    aggregates: streams,
    routes,
    call: caller(routes),
    authenticate: credentials({ aggregates: streams, hashes, clock }),
    reactions: [...accountReactions(all, clock), ...releasedClaimReactions(log)],
    /** How long logins were made to wait, in ms. */
    pauses,
    personal,
    startLinks: starting,
  };
};

/** The accounts part of the program over a log in memory; `now` is moved by hand. */
export const accountsWorld = ({ log = memoryEventLog(), ...settings }: Settings & { log?: EventLog } = {}) => {
  const world = { now: Date.parse(AT) };
  const clock: Clock = { now: () => world.now };
  const key = randomness.bytes(32);
  const views = memoryViewStore(PROJECTIONS.map(({ schema }) => schema));
  const here = node(log, views, clock, key, settings);

  const cookieOf = ({ headers }: Called): string =>
    /^__Host-session=([^;]*)/.exec(headers["set-cookie"] ?? "")?.[1] ?? "";
  const memberBy = async (token: string): Promise<Principal> => {
    const principal = await here.authenticate({ kind: "session", token });
    if (principal === null) throw new Error("the session does not hold");
    return principal;
  };

  return {
    ...here,
    world,
    log,
    views,
    cookieOf,
    memberBy,
    /** A second node over the same log and key. */
    another: (seen: EventLog = log) => node(seen, views, clock, key, settings),
    signUp: (email: string, more: Partial<Call> = {}, body: object = {}) =>
      here.call("POST", "/v1/auth/signup", { body: { email, password: PASSWORD, ...body }, ...more }),
    logIn: (email: string, password = PASSWORD, more: Partial<Call> = {}) =>
      here.call("POST", "/v1/auth/login", { body: { email, password }, ...more }),
    /** A new account; its owner. */
    async openAccount(email: string): Promise<Principal> {
      const signedUp = await here.call("POST", "/v1/auth/signup", { body: { email, password: PASSWORD } });
      return await memberBy(cookieOf(signedUp));
    },
    /** Invites and accepts; `outcome` is the first refusal, or the acceptance's. */
    async addMember(
      principal: Principal,
      email: string,
      role: Role = "viewer",
      from: Partial<Call> = {},
    ): Promise<Called & { id: string }> {
      const invited = await here.call("POST", "/v1/members/invitations", { principal, body: { email, role } });
      if (invited.outcome !== 201) return { ...invited, id: "" };
      const body = { token: tokenOf(invited.body.invitation_url), password: PASSWORD };
      return {
        ...(await here.call("POST", "/v1/auth/invitations/accept", { body, ...from })),
        id: String(invited.body.id),
      };
    },
    project: () => foldInto(log, views, PROJECTIONS),
    /** What the reactor does with the whole log. */
    async react(): Promise<void> {
      for (const event of await log.readAll(null, 500))
        for (const reaction of here.reactions) if (reaction.on === event.type) await reaction.run(event);
    },
    types: async (): Promise<string[]> => (await log.readAll(null, 500, "records")).map(({ type }) => type),
  };
};
