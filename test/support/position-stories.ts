import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type Agent, defineAction, registerAgent } from "./agent.ts";
import { type Client, clientAt, type HookSource, hookSource, type Reply, signUp } from "./client.ts";
import { addMember, tokenOf } from "./members.ts";
import type { Arrival, Receiver } from "./receiver.ts";
import { until } from "./until.ts";

/** What an answer names and the read that has to show it: the path, and whether its body does. */
export type Read = readonly [path: string, shows: (body: Reply["body"]) => boolean];

/** Checks that what the answer of a route names is found by reads at the answer's position. */
export type Found = (route: string, answer: Reply, ...reads: readonly Read[]) => Promise<void>;

/** One caller of many. A key and an agent have a limit a minute, so each caller has its own. */
export type Caller = {
  readonly client: Client;
  /** Its requests are admitted; those of the other are held for people. */
  readonly free: Agent;
  readonly asking: Agent;
  readonly hooks: HookSource;
  readonly policies: { readonly ask: string; readonly deny: string };
  /** Two actions; the second has a compensation. No endpoint gets ten failures in a row, which would open its circuit. */
  readonly pay: (wish: Wish) => Asked;
  readonly create: (wish: Wish) => Asked;
  readonly endpointId: string;
  /** Three events of it have failed, and it is disabled: a replay skips them one by one, as slowly as it was told to. */
  readonly disabledId: string;
};

type Asked = { readonly action: string; readonly payload: Wish };

export type Story = {
  readonly name: string;
  /** Left out: as many rounds as the test has. */
  readonly roundsMax?: number;
  run(caller: Caller, found: Found): Promise<void>;
};

const PASSWORD = "correct horse battery";

/** What the target is to answer: to an action, after how many milliseconds, and to what takes the action back. */
type Wish = { readonly answer?: number; readonly after_ms?: number; readonly undo?: number };
const OK: Wish = {};
const FAIL: Wish = { answer: 500 };
const SLOW: Wish = { after_ms: 60 };
const SLOWER: Wish = { after_ms: 500 };
const UNDO_FAILS: Wish = { undo: 500 };

/** Answers with the status that the payload wants. */
const answerAsWished = ({ headers, body }: Arrival, response: ServerResponse): void => {
  const parsed = JSON.parse(body) as Wish & { readonly payload?: Wish };
  // A compensation receives the payload of the step that it takes back.
  const isUndo = String(headers["countersign-action"]).startsWith("order.cancel");
  const status = isUndo ? (parsed.payload?.undo ?? 200) : (parsed.answer ?? 200);
  setTimeout(() => response.writeHead(status).end(), parsed.after_ms ?? 0);
};

/** More than all callers make between an answer and the read at its position. */
const NEWEST = "limit=40";

const made = (answer: Reply): Reply => {
  if (answer.status >= 300 && answer.status !== 502) {
    throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  }
  return answer;
};

const named =
  (id: string, isSo: (it: Reply["body"]) => boolean = () => true) =>
  ({ data }: Reply["body"]): boolean =>
    data.some((it: Reply["body"]) => (it.id ?? it.name) === id && isSo(it));
const without =
  (id: string) =>
  ({ data }: Reply["body"]): boolean =>
    !data.some((it: Reply["body"]) => (it.id ?? it.name) === id);

/** How far an event or a bundle is. Each status that is not here is an end. */
const PROGRESS: Readonly<Record<string, number>> = { held: 0, queued: 1, running: 1, delivering: 2, rolling_back: 2 };
const ENDED = 3;
const progressOf = (status: string): number => PROGRESS[status] ?? ENDED;
/** It may have gone on since the answer, and is never shown as it was before. */
const isAsFar = (seen: string, answered: string): boolean =>
  seen === answered || progressOf(seen) > progressOf(answered);

const eventOf = ({ event_id, status }: Reply["body"], isSo = (_: Reply["body"]): boolean => true): Read => [
  `/v1/events/${event_id}`,
  (body) => isAsFar(body.status, status) && isSo(body),
];

const pending = (id: string): readonly Read[] => [
  [`/v1/approvals/${id}`, (body) => body.id === id],
  [`/v1/approvals?status=pending&${NEWEST}`, named(id)],
];

const heldEvent = ({ body }: Reply): readonly Read[] => [
  eventOf(body, (event) => event.approval_id === body.approval_id),
  ...pending(body.approval_id),
];

const bundleOf = ({ id, status, steps }: Reply["body"]): readonly Read[] => {
  const ids: string[] = steps.flatMap((step: Reply["body"]) => [step.event_id, step.compensation_event_id]);
  return [
    [`/v1/bundles?${NEWEST}`, named(id, (it) => isAsFar(it.status, status))],
    ...ids.filter((it) => it !== null).map((it): Read => [`/v1/events/${it}`, (body) => body.id === it]),
  ];
};

const TRIES_MAX = 10;

/** Begins something and cancels it: on a busy machine it may have ended before the cancellation arrives. */
const whileRunning = async (cancelled: () => Promise<Reply>): Promise<Reply> => {
  for (let tries = 1; ; tries += 1) {
    const answer = await cancelled();
    if (answer.status !== 409 || tries === TRIES_MAX) return made(answer);
  }
};

const RETRY_AFTER_MS = 1_000;

/** Asks again as the service says, while a view is too far behind to answer. */
const whileBehind = async (ask: () => Promise<Reply>): Promise<Reply> => {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask();
    if (answer.body.code !== "view-behind" || tries === TRIES_MAX) return answer;
    await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_MS));
  }
};

const settings: readonly Story[] = [
  {
    name: "sources",
    // An account may send 120 samples in an hour.
    roundsMax: 100,
    async run({ client }, found) {
      const list = "/v1/sources?limit=100";
      const source = made(await client.session("POST", "/v1/sources", { name: "one", type: "github" }));
      const { id } = source.body;
      await found("POST /v1/sources", source, [list, named(id)]);
      const changed = made(await client.session("PATCH", `/v1/sources/${id}`, { name: "two" }));
      await found("PATCH /v1/sources/{id}", changed, [list, named(id, ({ name }) => name === "two")]);
      await found("POST /v1/sources/{id}/secret", made(await client.session("POST", `/v1/sources/${id}/secret`)));
      const sample = made(await client.session("POST", `/v1/sources/${id}/sample`, { type: "push" }));
      await found("POST /v1/sources/{id}/sample", sample, eventOf(sample.body));
      await found("DELETE /v1/sources/{id}", made(await client.session("DELETE", `/v1/sources/${id}`)), [
        list,
        without(id),
      ]);
    },
  },
  {
    name: "endpoints",
    async run({ client }, found) {
      const list = "/v1/endpoints?limit=100";
      const settings = { name: "one", url: "http://127.0.0.1:9/" };
      const endpoint = made(await client.session("POST", "/v1/endpoints", settings));
      const { id } = endpoint.body;
      await found("POST /v1/endpoints", endpoint, [list, named(id)]);
      const changed = made(await client.session("PATCH", `/v1/endpoints/${id}`, { name: "two" }));
      await found("PATCH /v1/endpoints/{id}", changed, [list, named(id, ({ name }) => name === "two")]);
      await found("POST /v1/endpoints/{id}/secret", made(await client.session("POST", `/v1/endpoints/${id}/secret`)));
      const enabled = made(await client.session("POST", `/v1/endpoints/${id}/enable`));
      await found("POST /v1/endpoints/{id}/enable", enabled, [
        list,
        named(id, ({ health }) => health.state === enabled.body.health.state),
      ]);
      await found("DELETE /v1/endpoints/{id}", made(await client.session("DELETE", `/v1/endpoints/${id}`)), [
        list,
        without(id),
      ]);
    },
  },
  {
    name: "an endpoint whose circuit is open",
    roundsMax: 1,
    async run({ client, free, endpointId }, found) {
      const { url } = (await client.session("GET", `/v1/endpoints/${endpointId}`)).body;
      const about = { name: "failing", url, retry_schedule_s: [] };
      const { id } = await client.make("/v1/endpoints", about);
      const action = `failing.${randomUUID()}`;
      await defineAction(client, action, id);
      const fail = () => free.execute(randomUUID(), { action, payload: FAIL, wait_ms: 1_000 });
      // Ten failures in a row at one node open it, and another node may take some of them.
      await Promise.all(Array.from({ length: 10 }, fail));
      await until("its circuit is open", async () => {
        const { health } = (await client.session("GET", `/v1/endpoints/${id}`)).body;
        if (health.state !== "open") await fail();
        return health.state === "open";
      });
      const tested = made(await client.session("POST", `/v1/endpoints/${id}/test`));
      await found("POST /v1/endpoints/{id}/test", tested, [
        "/v1/endpoints?limit=100",
        named(id, ({ health }) => health.state !== "open"),
      ]);
    },
  },
  {
    name: "policies",
    async run({ client }, found) {
      const list = `/v1/policies?${NEWEST}`;
      const policy = made(await client.session("POST", "/v1/policies", { name: "one" }));
      const { id } = policy.body;
      await found("POST /v1/policies", policy, [list, named(id)], [`/v1/policies/${id}/versions`, named(id)]);
      const second = made(await client.session("PUT", `/v1/policies/${id}`, { name: "two" }));
      const isSecond = ({ version }: Reply["body"]): boolean => version === 2;
      await found(
        "PUT /v1/policies/{id}",
        second,
        [list, named(id, isSecond)],
        [`/v1/policies/${id}/versions`, named(id, isSecond)],
      );
    },
  },
  {
    name: "actions",
    async run({ client, endpointId }, found) {
      const list = "/v1/actions?limit=100";
      const name = `a.${randomUUID()}`;
      const definition = { endpoint_id: endpointId, reversibility: "reversible" };
      const path = `/v1/actions/${name}`;
      await found("PUT /v1/actions/{name}", made(await client.session("PUT", path, definition)), [list, named(name)]);
      await found("DELETE /v1/actions/{name}", made(await client.session("DELETE", path)), [list, without(name)]);
    },
  },
  {
    name: "agents",
    async run({ client }, found) {
      const list = "/v1/agents?limit=100";
      const agent = made(await client.session("POST", "/v1/agents", { name: "one", scope: { actions: [] } }));
      const { id } = agent.body;
      const path = `/v1/agents/${id}`;
      await found("POST /v1/agents", agent, [list, named(id)]);
      const changed = made(await client.session("PATCH", path, { name: "two" }));
      await found("PATCH /v1/agents/{id}", changed, [list, named(id, ({ name }) => name === "two")]);
      const rotated = made(await client.session("POST", `${path}/key`));
      const isNew = ({ last4 }: Reply["body"]): boolean => last4 === rotated.body.last4;
      await found("POST /v1/agents/{id}/key", rotated, [list, named(id, isNew)]);
      for (const [way, status, body] of [
        ["suspend", "suspended", { reason: "test" }],
        ["resume", "active", undefined],
      ] as const) {
        const told = made(await client.session("POST", `${path}/${way}`, body));
        await found(`POST /v1/agents/{id}/${way}`, told, [list, named(id, (it) => it.status === status)]);
      }
      await found("DELETE /v1/agents/{id}", made(await client.session("DELETE", path)), [list, without(id)]);
    },
  },
];

const people: readonly Story[] = [
  {
    name: "API keys",
    async run({ client }, found) {
      const key = made(await client.session("POST", "/v1/api-keys", { name: "one" }));
      const { id } = key.body;
      await found("POST /v1/api-keys", key, ["/v1/api-keys?limit=100", named(id)]);
      const revoked = made(await client.session("DELETE", `/v1/api-keys/${id}`));
      await found("DELETE /v1/api-keys/{id}", revoked, ["/v1/api-keys?limit=100", without(id)]);
    },
  },
  {
    name: "members",
    // Each is a password to be hashed.
    roundsMax: 10,
    async run({ client }, found) {
      const { id, invited, accepted } = await addMember(client, `${randomUUID()}@example.com`);
      await found("POST /v1/members/invitations", invited, ["/v1/members?limit=100", named(id)]);
      const list = ["/v1/members?limit=100", named(id, (it) => it.state === "active")] as const;
      await found("POST /v1/auth/invitations/accept", accepted, list);
      const changed = made(await client.session("PATCH", `/v1/members/${id}`, { role: "auditor" }));
      await found("PATCH /v1/members/{id}", changed, [
        "/v1/members?limit=100",
        named(id, (it) => it.role === "auditor"),
      ]);
      const link = made(await client.session("POST", `/v1/members/${id}/reset`));
      await found("POST /v1/members/{id}/reset", link);
      const reset = { token: tokenOf(link.body.reset_url), password: "another horse battery" };
      await found("POST /v1/auth/reset", made(await client.session("POST", "/v1/auth/reset", reset, { cookie: "" })));
      const removed = made(await client.session("DELETE", `/v1/members/${id}`));
      await found("DELETE /v1/members/{id}", removed, ["/v1/members?limit=100", without(id)]);
    },
  },
];

const requests: readonly Story[] = [
  {
    name: "webhooks",
    async run({ hooks }, found) {
      const id = randomUUID();
      const first = made(await hooks.send(id, {}));
      const again = made(await hooks.send(id, {}));
      for (const answer of [first, again]) {
        await found("POST /v1/webhooks/{provider}/{source_id}", answer, eventOf(answer.body), [
          `/v1/events?${NEWEST}&source_id=${hooks.id}`,
          named(answer.body.event_id),
        ]);
      }
    },
  },
  {
    name: "requests of an agent",
    async run({ free, pay }, found) {
      const queued = made(await free.execute(randomUUID(), { ...pay(SLOW), wait_ms: 0 }));
      await found("POST /v1/execute", queued, eventOf(queued.body));
      for (const wish of [OK, FAIL]) {
        const ended = made(await free.execute(randomUUID(), pay(wish)));
        await found(
          "POST /v1/execute",
          ended,
          eventOf(ended.body, ({ status, attempts }) => status === ended.body.status && attempts.length === 1),
        );
      }
    },
  },
  {
    name: "requests that are held, and what people decide",
    async run({ client, asking, pay }, found) {
      const key = randomUUID();
      const held = made(await asking.execute(key, pay(OK)));
      await found("POST /v1/execute", held, ...heldEvent(held));
      const again = made(await asking.execute(key, pay(OK)));
      await found("POST /v1/execute", again, ...heldEvent(again));
      const other = made(await asking.execute(randomUUID(), pay(OK)));
      for (const [answer, way] of [
        [held, "approve"],
        [other, "reject"],
      ] as const) {
        const path = `/v1/approvals/${answer.body.approval_id}`;
        const { digest } = (await client.call("GET", path)).body;
        const revealed = made(await client.session("POST", `${path}/reveal`));
        await found("POST /v1/approvals/{id}/reveal", revealed, [path, (it) => it.digest === digest]);
        const decided = made(await client.session("POST", `${path}/${way}`, { digest, comment: "said so" }));
        const { id, status } = decided.body;
        const isShown = (it: Reply["body"]): boolean => it.status === status || it.status === "consumed";
        await found(
          `POST /v1/approvals/{id}/${way}`,
          decided,
          [path, isShown],
          [`/v1/approvals?${NEWEST}`, named(id, isShown)],
        );
      }
    },
  },
  {
    name: "events that are replayed",
    async run({ client, free, pay, policies }, found) {
      made(await free.execute(randomUUID(), pay(OK)));
      const failed = made(await free.execute(randomUUID(), pay(FAIL)));
      const path = `/v1/events/${failed.body.event_id}`;
      const replayed = made(await client.call("POST", `${path}/replay`));
      const isReplayed = ({ replays }: Reply["body"]): boolean =>
        replays.some(({ id }: Reply["body"]) => id === replayed.body.replay_id);
      await found("POST /v1/events/{id}/replay", replayed, [path, isReplayed]);
      // By a source of its own: which policy is in force changes.
      const source = { name: "changing", type: "hmac", policy_id: policies.deny };
      const own = await hookSource(client, source);
      const blocked = await own.send(randomUUID(), {});
      await client.session("PATCH", `/v1/sources/${own.id}`, { policy_id: policies.ask });
      const held = made(await client.session("POST", `/v1/events/${blocked.body.event_id}/replay`));
      await found("POST /v1/events/{id}/replay", held, ...heldEvent(held));
      await client.session("DELETE", `/v1/sources/${own.id}`);
    },
  },
  {
    name: "replays of many events",
    async run({ client, disabledId }, found) {
      const filter = { status: "failed", endpoint_id: disabledId };
      const begin = async (): Promise<Reply> =>
        made(await whileBehind(() => client.call("POST", "/v1/replays", { filter, rate_per_second: 1 })));
      const cancel = (id: string): Promise<Reply> => client.call("POST", `/v1/replays/${id}/cancel`);
      const begun = await begin();
      const { id } = begun.body;
      await found(
        "POST /v1/replays",
        begun,
        [`/v1/replays/${id}`, (body) => body.id === id],
        [`/v1/replays?${NEWEST}`, named(id)],
      );
      // So many may run at once.
      await cancel(id);
      const cancelled = await whileRunning(async () => cancel((await begin()).body.id));
      const isCancelled = ({ status }: Reply["body"]): boolean => status === "cancelled";
      await found("POST /v1/replays/{id}/cancel", cancelled, [`/v1/replays/${cancelled.body.id}`, isCancelled]);
    },
  },
  {
    name: "payloads that are erased",
    async run({ client, free, pay }, found) {
      const { event_id: id } = made(await free.execute(randomUUID(), pay(OK))).body;
      const erased = made(await client.session("DELETE", `/v1/events/${id}/payload`, { reason: "asked for" }));
      await found("DELETE /v1/events/{id}/payload", erased, [
        `/v1/events/${id}`,
        ({ payload }) => payload.erased_at === erased.body.erased_at,
      ]);
    },
  },
];

const bundles: readonly Story[] = [
  {
    name: "bundles",
    async run({ client, free, pay }, found) {
      const running = made(await free.bundle(randomUUID(), [pay(SLOW), pay(OK)], { wait_ms: 0 }));
      await found("POST /v1/bundles", running, ...bundleOf(running.body));
      const cancelled = await whileRunning(async () => {
        const { body } = made(await free.bundle(randomUUID(), [pay(SLOWER)], { wait_ms: 0 }));
        return free.cancelBundle(body.id);
      });
      await found("POST /v1/bundles/{id}/cancel", cancelled, ...bundleOf(cancelled.body));
      const committed = made(await free.bundle(randomUUID(), [pay(OK), pay(OK)]));
      await found("POST /v1/bundles", committed, ...bundleOf(committed.body));
      const path = `/v1/bundles/${committed.body.id}/payload`;
      const erased = made(await client.session("DELETE", path, { reason: "asked for" }));
      const isErased = ({ payload }: Reply["body"]): boolean => payload.erased_at !== null;
      const steps: readonly string[] = committed.body.steps.map((step: Reply["body"]) => step.event_id);
      await found(
        "DELETE /v1/bundles/{id}/payload",
        erased,
        ...steps.map((id): Read => [`/v1/events/${id}`, isErased]),
      );
    },
  },
  {
    name: "bundles that are held",
    async run({ asking, pay }, found) {
      const key = randomUUID();
      const held = made(await asking.bundle(key, [pay(OK)]));
      const again = made(await asking.bundle(key, [pay(OK)]));
      for (const answer of [held, again]) {
        await found("POST /v1/bundles", answer, ...bundleOf(answer.body), ...pending(answer.body.approval_id));
      }
      const cancelled = made(await asking.cancelBundle(held.body.id));
      const { approval_id: approvalId } = cancelled.body;
      await found("POST /v1/bundles/{id}/cancel", cancelled, ...bundleOf(cancelled.body), [
        `/v1/approvals?${NEWEST}`,
        named(approvalId),
      ]);
    },
  },
  {
    name: "bundles that cannot be taken back",
    async run({ client, free, pay, create }, found) {
      const left = made(await free.bundle(randomUUID(), [create(UNDO_FAILS), pay(FAIL)]));
      await found("POST /v1/bundles", left, ...bundleOf(left.body));
      const path = `/v1/bundles/${left.body.id}/steps/0/resolve`;
      // On a busy machine the bundle may be answered while it is still being taken back.
      let answer = await client.session("POST", path, { comment: "by phone" });
      await until("the bundle has been taken back as far as it can", async () => {
        if (answer.status === 409) answer = await client.session("POST", path, { comment: "by phone" });
        return answer.status !== 409;
      });
      const resolved = made(answer);
      await found("POST /v1/bundles/{id}/steps/{index}/resolve", resolved, [
        `/v1/bundles?${NEWEST}`,
        named(left.body.id, ({ steps }) => steps[0].resolution?.comment === "by phone"),
      ]);
    },
  },
];

const billing: readonly Story[] = [
  {
    name: "links to pages of the billing provider",
    async run({ client }, found) {
      const isRecorded = ({ data }: Reply["body"]): boolean => data.length > 0;
      const record: Read = ["/v1/audit?type=BillingLinkMade&order=desc", isRecorded];
      for (const [path, body] of [
        ["/v1/billing/checkout/start", { plan: "core" }],
        ["/v1/billing/portal", {}],
      ] as const)
        await found(`POST ${path}`, made(await client.session("POST", path, body)), record);
    },
  },
];

export const STORIES: readonly Story[] = [...settings, ...people, ...requests, ...bundles, ...billing];

/** Calls that change nothing, or need what is done on the program's machine; each is in the test that is named. */
export const WITHOUT_A_STORY: ReadonlySet<string> = new Set([
  // Makes the first account of a program that has none: `test/program/first-account.test.ts`.
  "POST /v1/auth/start",
  // Cancels what `account recover --policy` has asked for: `test/src/change-control/held-changes.test.ts`.
  "DELETE /v1/policies/{id}/protection-lift",
  // Reads with the code in its body, so that the code is in no address: `test/src/routes/accounts/device.test.ts`.
  "POST /v1/auth/device/request",
  // Read with the link's secret in the body, so that the secret is in no address: `test/src/routes/accounts/members.test.ts`.
  "POST /v1/auth/invitations/read",
  "POST /v1/auth/reset/read",
  // Says what publishing would say: `test/src/routes/policies/policy-validation.test.ts`.
  "POST /v1/policies/validate",
]);

/** Refuses the login of one command line, and lets another in. */
const letsIn = async (person: Client, found: Found): Promise<void> => {
  const client_id = "countersign-cli";
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  for (const act of ["deny", "approve"]) {
    const asked = made(await person.session("POST", "/v1/auth/device", { client_id, device_name: "laptop" }));
    const { user_code, device_code } = asked.body;
    await found("POST /v1/auth/device", asked);
    const decided = made(await person.session("POST", `/v1/auth/device/${act}`, { user_code }));
    await found(`POST /v1/auth/device/${act}`, decided);
    if (act === "deny") continue;
    const letIn = await person.session("POST", "/v1/auth/device/token", { client_id, grant_type, device_code });
    const isListed = ({ data }: Reply["body"]): boolean =>
      data.some((it: Reply["body"]) => it.made_by === "command-line");
    await found("POST /v1/auth/device/token", made(letIn), ["/v1/auth/sessions?limit=100", isListed]);
  }
};

/** Signs up, logs in and out, ends sessions, erases an address, and changes the password. */
export const signsUp = async (base: string, found: (client: Client) => Found): Promise<void> => {
  const who = { email: `${randomUUID()}@example.com`, password: PASSWORD };
  const post = async (path: string, body: unknown, cookie?: string): Promise<Reply> =>
    made(await clientAt(base, { account: "", cookie: cookie ?? "", key: "" }).session("POST", path, body));
  const cookieOf = ({ headers }: Reply): string => headers.get("set-cookie")?.split(";")[0] ?? "";
  const signedUp = await post("/v1/auth/signup", who);
  const seenAs = (cookie: string): Found => found(clientAt(base, { account: "", cookie, key: "" }));
  const { id } = signedUp.body.member;
  await seenAs(cookieOf(signedUp))("POST /v1/auth/signup", signedUp, ["/v1/members", named(id)]);
  const loggedIn = await post("/v1/auth/login", who);
  await seenAs(cookieOf(loggedIn))("POST /v1/auth/login", loggedIn, ["/v1/members", named(id)]);
  const loggedOut = await post("/v1/auth/logout", undefined, cookieOf(loggedIn));
  await seenAs(cookieOf(signedUp))("POST /v1/auth/logout", loggedOut);

  const other = await post("/v1/auth/login", who);
  const person = clientAt(base, { account: "", cookie: cookieOf(signedUp), key: "" });
  const sessions = "/v1/auth/sessions?limit=100";
  const after = `&after=${other.headers.get("countersign-position")}`;
  const all: Reply["body"][] = made(await person.session("GET", `${sessions}${after}`)).body.data;
  const { id: ended } = all.find((it) => !it.current);
  const asPerson = found(person);
  const end = made(await person.session("DELETE", `/v1/auth/sessions/${ended}`));
  await asPerson("DELETE /v1/auth/sessions/{id}", end, [sessions, without(ended)]);
  const isAlone = ({ data }: Reply["body"]): boolean => data.length === 1 && data[0].current;
  const endAll = made(await person.session("DELETE", "/v1/auth/sessions"));
  await asPerson("DELETE /v1/auth/sessions", endAll, [sessions, isAlone]);
  const opened = made(await person.session("GET", `/v1/audit?type=SessionOpened${after}`)).body.data;
  const [personal = ""] = Object.keys(opened[0].personal);
  const erased = made(await person.session("DELETE", `/v1/audit/personal/${personal}`, { reason: "a test" }));
  const names = ({ data }: Reply["body"]): boolean => data.some((it: Reply["body"]) => it.data.id === personal);
  await asPerson("DELETE /v1/audit/personal/{id}", erased, ["/v1/audit?type=PersonalDataErased", names]);
  await letsIn(person, asPerson);
  const wishes = { scheme: "dark", density: "compact", letters: true, views: [] };
  const preferred = made(await person.session("PUT", "/v1/members/me/preferences", wishes));
  const isDark = ({ scheme }: Reply["body"]): boolean => scheme === "dark";
  await asPerson("PUT /v1/members/me/preferences", preferred, ["/v1/members/me/preferences", isDark]);
  const renamed = made(await person.session("PATCH", "/v1/account", { name: "Shop Two" }));
  const isRenamed = ({ account }: Reply["body"]): boolean => account.name === "Shop Two";
  await asPerson("PATCH /v1/account", renamed, ["/v1/auth/me", isRenamed]);
  const passwords = { current_password: PASSWORD, new_password: "another horse battery" };
  const changed = made(await person.session("POST", "/v1/auth/password", passwords));
  await asPerson("POST /v1/auth/password", changed, [sessions, isAlone]);
};

/** The window of the limits that a credential has; a limit an hour ends the test instead of being waited for. */
const RETRY_AFTER_S_MAX = 60;

/** Who asks more often than a credential may comes again when told to: the callers share a session. */
const patient = (client: Client): Client => {
  const again =
    (call: Client["call"]): Client["call"] =>
    async (...request) => {
      for (;;) {
        const answer = await call(...request);
        if (answer.status !== 429 || answer.body.code !== "rate-limited") return answer;
        const waitS = Number(answer.headers.get("retry-after"));
        if (waitS > RETRY_AFTER_S_MAX) throw new Error(`${request.slice(0, 2).join(" ")}: ${answer.body.detail}`);
        await new Promise((resolve) => setTimeout(resolve, waitS * 1_000));
      }
    };
  const session = again(client.session);
  return {
    ...client,
    call: again(client.call),
    session,
    make: async (path, body) => made(await session("POST", path, body)).body,
    at: (base) => patient(client.at(base)),
  };
};

/** Callers of one account, which each have what they need. */
export const callersAt = async (base: string, target: Receiver, count: number): Promise<readonly Caller[]> => {
  target.answer(answerAsWished);
  const owner = await signUp(base);
  const settings = { url: target.url, retry_schedule_s: [], concurrency: 64 };
  const { id: disabledId } = await owner.make("/v1/endpoints", { name: "gone", ...settings, concurrency: 1 });
  const { id: ask } = await owner.make("/v1/policies", { name: "ask", approval: { expires_after_s: 3_600 } });
  const { id: deny } = await owner.make("/v1/policies", { name: "deny", deny: [{ name: "all", when: "true" }] });
  await defineAction(owner, "gone", disabledId);
  const first = await registerAgent(base, owner);
  for (const answer of [500, 500, 410]) {
    const { body } = await first.execute(randomUUID(), { action: "gone", payload: { answer } });
    if (body.status !== "failed") throw new Error(`the event is ${body.status} and was to fail`);
  }
  const caller = async (_: unknown, n: number): Promise<Caller> => {
    const { id: endpointId } = await owner.make("/v1/endpoints", { name: "app", ...settings });
    const [paying, creating, cancelling] = [`order.pay.${n}`, `order.create.${n}`, `order.cancel.${n}`] as const;
    await defineAction(owner, paying, endpointId);
    await defineAction(owner, cancelling, endpointId, { reversibility: "irreversible" });
    await defineAction(owner, creating, endpointId, { reversibility: "compensable", compensation: cancelling });
    const { key } = made(await owner.session("POST", "/v1/api-keys", { name: "caller", role: "admin" })).body;
    const client = patient(clientAt(base, { ...owner, key }));
    const [free, asking, hooks] = await Promise.all([
      registerAgent(base, client),
      registerAgent(base, client, { policy_id: ask }),
      hookSource(client, { endpoint_id: endpointId }),
    ]);
    return {
      ...{ client, free, asking, hooks, endpointId, disabledId },
      policies: { ask, deny },
      pay: (payload) => ({ action: paying, payload }),
      create: (payload) => ({ action: creating, payload }),
    };
  };
  return Promise.all(Array.from({ length: count }, caller));
};
