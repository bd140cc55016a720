import type { FastifyInstance } from "fastify";
import { PLANS } from "../../domain/account/plans.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { secretBox } from "../../infra/crypto/secret-box.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { type AppDeps, app } from "../../src/app.ts";
import { positionText } from "../../src/http/position-text.ts";
import type { Principal, Route } from "../../src/http/route.ts";
import { PROBLEMS, type ProblemCode } from "../../src/streams/problems.ts";
import { addressed } from "./personal-words.ts";

export const PUBLIC_URL = "https://countersign.example";

/** As the app of these tests writes positions. */
export const POSITIONS = positionText("the log of these tests");

/** Credentials that the fake `authenticate` knows. */
export const OWNER: Principal = {
  kind: "member",
  account: "acc_a",
  id: "mem_a",
  ...addressed("ana@a.example"),
  role: "owner",
  session: "session-a",
};
export const ADMIN_KEY: Principal = { kind: "key", account: "acc_a", id: "key_admin", role: "admin" };
export const VIEWER_KEY: Principal = { kind: "key", account: "acc_a", id: "key_viewer", role: "viewer" };
export const OTHER_KEY: Principal = { kind: "key", account: "acc_b", id: "key_other", role: "admin" };

const PRINCIPALS = new Map<string, Principal>([
  ["session owner", OWNER],
  ["bearer csk_admin", ADMIN_KEY],
  ["bearer csk_viewer", VIEWER_KEY],
  ["bearer csk_other", OTHER_KEY],
  ["bearer csa_agent", { kind: "agent", account: "acc_a", id: "agt_a" }],
]);

export const COOKIE = { cookie: "__Host-session=owner" };
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
export const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };

export type TestClock = Clock & { advance(ms: number): void };

export const testClock = (from = Date.parse("2026-03-01T12:00:00.000Z")): TestClock => {
  let now = from;
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
  };
};

/** Ends the test file: the answer itself may be what a test expects. */
const failLater = (sentence: string): void => {
  setImmediate(() => {
    throw new Error(sentence);
  });
};

/** The app with fakes behind it; what a test is about it brings along. */
export const testApp = (routes: readonly Route[], deps: Partial<AppDeps> = {}): Promise<FastifyInstance> =>
  app({
    routes,
    authenticate: async ({ kind, token }) => PRINCIPALS.get(`${kind} ${token}`) ?? null,
    log: memoryEventLog(),
    progress: { waitFor: async () => true, lowest: () => null },
    positions: POSITIONS,
    clock: testClock(),
    randomness,
    box: secretBox(Buffer.alloc(32, 7), randomness),
    digestKey: Buffer.alloc(32, 8),
    planOf: async () => PLANS.free,
    allowances: { take: async () => ({ giveBack: () => undefined }) },
    config: { publicUrl: () => PUBLIC_URL, version: "0.0.0-test", trustProxy: false },
    logger: null,
    onUnlisted: failLater,
    ...deps,
  });

/** A route that answers with the call it got; `over` replaces what matters. */
export const echo = (over: Partial<Route> = {}): Route => ({
  method: "POST",
  path: "/v1/things",
  who: { session: "admin", key: "admin" },
  summary: "Echo",
  tag: "test",
  body: {
    type: "object",
    required: ["name"],
    additionalProperties: false,
    properties: { name: { type: "string", maxLength: 40 }, size: { type: "integer", default: 1 } },
  },
  answers: { 201: { type: "object" } },
  // A test may have it answer anything.
  problems: Object.keys(PROBLEMS) as ProblemCode[],
  handle: async ({ params, query, body, envelope, principal }) => ({
    status: 201,
    body: { params, query, body, envelope, principal },
    position: "0000000000000007",
  }),
  ...over,
});
