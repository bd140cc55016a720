import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { audit } from "../../../../projections/audit.ts";
import { SESSION_LIFETIME_S } from "../../../../src/accounts/sessions.ts";
import { EVENT_STREAM_TIMES } from "../../../../src/feed/sent-events.ts";
import { auditStreamRoutes } from "../../../../src/routes/audit/audit-stream.ts";
import { STALENESS_MAX_MS } from "../../../../src/streams/aggregates.ts";
import { inlineProjector } from "../../../../src/views/view-progress.ts";
import { accountsWorld } from "../../../support/accounts-world.ts";
import { eventSource, type TestEventSource } from "../../../support/event-source.ts";
import { history } from "../../../support/history.ts";
import { bearer, POSITIONS, testApp } from "../../../support/http-app.ts";
import { until } from "../../../support/until.ts";

const test = suite("the end of a stream of records");

/** Nothing is noticed by looking again. */
const NEVER_MS = 3_600_000;
const MEMBER = "bo@shop.example";

/** Two nodes over one log, an owner, a member with the role auditor, and each one's stream on each node. */
const world = async (recheckMs: number) => {
  const log = memoryEventLog();
  const accounts = accountsWorld({ log });
  const views = memoryViewStore([audit.schema]);
  const clock = { now: () => accounts.world.now };
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const progress = await inlineProjector({ log, views, projections: [audit], clock, gatherMs: 1 });
  const listening = async ({ aggregates, authenticate }: Pick<typeof accounts, "aggregates" | "authenticate">) => {
    const limits = { recheckMs };
    const routes = auditStreamRoutes({ views, log, progress, aggregates, positions: POSITIONS, onError, limits });
    const app = await testApp(routes, { authenticate, log, progress, clock });
    await app.listen({ host: "127.0.0.1", port: 0 });
    return app;
  };
  const apps = await Promise.all([listening(accounts), listening(accounts.another())]);
  const sources: TestEventSource[] = [];

  const token = accounts.cookieOf(await accounts.signUp("ana@shop.example"));
  const owner = await accounts.memberBy(token);
  const asOwner = { principal: owner };
  let added = 0;
  const streamed = async (headers: Record<string, string>) => {
    const opened = await Promise.all(
      apps.map(({ server }) =>
        eventSource(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/audit/stream`, headers),
      ),
    );
    sources.push(...opened);
    for (const { status } of opened) assert.is(status, 200);
    await until("the streams have begun", () => opened.every((it) => it.lastId() !== ""));
    const [here, there] = opened;
    assert.ok(here !== undefined && there !== undefined);
    return { here, there };
  };
  return {
    accounts,
    owner,
    asOwner,
    errors,
    ownersStream: () => streamed({ cookie: `__Host-session=${token}` }),
    async keysStream(more: object = {}) {
      const body = { name: "ci", role: "auditor", ...more };
      const { body: made } = await accounts.call("POST", "/v1/api-keys", { ...asOwner, body });
      return { id: String(made.id), ...(await streamed(bearer(String(made.key)))) };
    },
    async membersStream() {
      const added = await accounts.addMember(owner, MEMBER, "auditor");
      const login = accounts.cookieOf(added);
      return { id: added.id, ...(await streamed({ cookie: `__Host-session=${login}` })) };
    },
    /** A record of the account; resolves when the views show it. */
    async add() {
      added += 1;
      const record = history().add("x-x", { type: "Happened", data: { added } }, { account: owner.account });
      const id = `${String(added).padStart(8, "0")}-0000-8000-a000-000000000000`;
      await log.append("delivery-evt_1", "any", [{ ...record, id }]);
      await until("the view shows it", async () => (await views.position(audit.schema.name)) === (await log.head()));
    },
    async close() {
      for (const source of sources) source.close();
      for (const app of apps) await app.close();
      await progress.stop();
    },
  };
};
type World = Awaited<ReturnType<typeof world>>;

const happened = (source: TestEventSource): number[] =>
  source.events.map(({ data }) => JSON.parse(data).data.added).filter((it) => it !== undefined);

type Streams = { readonly here: TestEventSource; readonly there: TestEventSource };
type Ending = {
  readonly open: (it: World) => Promise<Streams & { readonly id?: string }>;
  readonly end: (it: World, id: string) => Promise<unknown> | unknown;
};
const DAY_MS = 86_400_000;

/** What a person or a program does on the first node. */
const RECORDED: Readonly<Record<string, Ending>> = {
  "a key that is revoked": {
    open: (it) => it.keysStream(),
    end: ({ accounts, asOwner }, id) => accounts.call("DELETE", "/v1/api-keys/{id}", { ...asOwner, params: { id } }),
  },
  "a session that is logged out": {
    open: (it) => it.ownersStream(),
    end: ({ accounts, asOwner }) => accounts.call("POST", "/v1/auth/logout", asOwner),
  },
  "a member who is removed": {
    open: (it) => it.membersStream(),
    end: ({ accounts, asOwner }, id) => accounts.call("DELETE", "/v1/members/{id}", { ...asOwner, params: { id } }),
  },
};
/** What comes by itself. */
const EXPIRED: Readonly<Record<string, Ending>> = {
  "a key that expires": {
    open: (it) => it.keysStream({ expires_at: new Date(it.accounts.world.now + DAY_MS).toISOString() }),
    end: ({ accounts }) => {
      accounts.world.now += DAY_MS;
    },
  },
  "a session that expires": {
    open: (it) => it.ownersStream(),
    end: ({ accounts }) => {
      accounts.world.now += SESSION_LIFETIME_S * 1_000;
    },
  },
};

const withWorld = async (recheckMs: number, run: (it: World) => Promise<void>): Promise<void> => {
  const it = await world(recheckMs);
  try {
    await run(it);
    assert.equal(it.errors, []);
  } finally {
    await it.close();
  }
};

for (const [what, { open, end }] of Object.entries(RECORDED)) {
  test(`${what} ends the streams of its node without waiting, and no record is written afterwards`, () =>
    withWorld(NEVER_MS, async (it) => {
      const { here, there, id = "" } = await open(it);
      await it.add();
      await until("both have it", () => [here, there].every((source) => happened(source).length === 1));
      await end(it, id);
      await it.add();
      await until("it has ended", here.isEnded);
      assert.equal(happened(here), [1]);
    }));

  test(`${what} ends the streams of other nodes when they look again`, () =>
    withWorld(20, async (it) => {
      const { there, id = "" } = await open(it);
      await it.add();
      await until("it has come", () => happened(there).length === 1);
      await end(it, id);
      await until("it has ended", () => {
        it.accounts.world.now += STALENESS_MAX_MS;
        return there.isEnded();
      });
    }));

  test(`a record that comes after ${what} is not written to streams of other nodes either`, () =>
    withWorld(NEVER_MS, async (it) => {
      const { there, id = "" } = await open(it);
      await end(it, id);
      it.accounts.world.now += STALENESS_MAX_MS;
      await it.add();
      await until("it has ended", there.isEnded);
      assert.equal(happened(there), []);
    }));
}

for (const [what, { open, end }] of Object.entries(EXPIRED)) {
  test(`${what} ends its streams, and no record is written afterwards`, () =>
    withWorld(NEVER_MS, async (it) => {
      const { here, there } = await open(it);
      await it.add();
      await until("both have it", () => [here, there].every((source) => happened(source).length === 1));
      await end(it, "");
      await it.add();
      await until("both have ended", () => here.isEnded() && there.isEnded());
      assert.equal([happened(here), happened(there)], [[1], [1]]);
    }));

  test(`${what} ends its streams also when nothing happens`, () =>
    withWorld(20, async (it) => {
      const { here, there } = await open(it);
      await end(it, "");
      await until("both have ended", () => here.isEnded() && there.isEnded());
    }));
}

test("another key of the account goes on", () =>
  withWorld(20, async (it) => {
    const [revoked, kept] = [await it.keysStream(), await it.keysStream({ name: "another" })];
    await RECORDED["a key that is revoked"]?.end(it, revoked.id);
    await until("it has ended", revoked.here.isEnded);
    await it.add();
    await until("the other one has the record", () => happened(kept.here).length === 1);
    assert.is(kept.here.isEnded(), false);
  }));

test("the end of a credential on another node is noticed within 2 s", () => {
  assert.ok(EVENT_STREAM_TIMES.recheckMs + STALENESS_MAX_MS <= 1_500);
});

test.run();
