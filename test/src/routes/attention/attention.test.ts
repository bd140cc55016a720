import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Document } from "../../../../domain/ports/view-store.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { PROJECTIONS } from "../../../../projections/all.ts";
import type { Principal } from "../../../../src/http/route.ts";
import { attentionRoutes } from "../../../../src/routes/attention/attention.ts";
import { broadHistory } from "../../../support/broad-history.ts";
import { caller } from "../../../support/call.ts";
import { approvalFacts, at, deliveryFacts, type History, history } from "../../../support/history.ts";
import { addressed } from "../../../support/personal-words.ts";
import { folded } from "../../../support/projected.ts";

const test = suite("GET /v1/attention");
const NOW = at(600);
const APPROVER: Extract<Principal, { kind: "member" }> = {
  kind: "member",
  account: "acc_1",
  id: "mem_9",
  ...addressed("ana@example.com"),
  role: "approver",
  session: "session-x",
};
const VIEWER: Principal = { kind: "key", account: "acc_1", id: "key_1", role: "viewer" };

type Need = {
  readonly kind: string;
  readonly subject: { readonly id: string };
  readonly count: number;
  readonly severity: string;
  readonly since: string;
  readonly detail: string;
};

const opened = async (log: History, spent = 0) => {
  const views = memoryViewStore(PROJECTIONS.map(({ schema }) => schema));
  for (const projection of PROJECTIONS) {
    const documents = new Map<string, Document>(Object.entries(folded(projection, log.events, 50).all()));
    await views.commit(projection.schema.name, null, "1", { documents });
  }
  const asked: string[] = [];
  const call = caller(
    attentionRoutes({
      views,
      ledgers: {
        async figures(stream) {
          asked.push(stream);
          return { reserved: spent / 2, settled: spent / 2, overrun: 0, open: 1, spent: 1 };
        },
      },
      timeZoneOf: async () => "UTC",
      titlesOf: async () => new Map(),
      clock: { now: () => Date.parse(NOW) },
    }),
  );
  return {
    asked,
    async needs(principal: Principal): Promise<readonly Need[]> {
      const { outcome, body } = await call("GET", "/v1/attention", { principal });
      assert.is(outcome, 200);
      return body.data as Need[];
    },
  };
};

const kindsOf = (needs: readonly Need[]): readonly string[] => [...new Set(needs.map(({ kind }) => kind))];

test("open circuits, bundles to undo, budgets and refused signatures come, the worst first", async () => {
  // 240 of 250 euros.
  const { needs, asked } = await opened(broadHistory(), 240_000_000);
  const found = await needs(VIEWER);
  for (const kind of ["endpoint", "bundle", "budget", "source"]) assert.ok(kindsOf(found).includes(kind), kind);
  const severities = found.map(({ severity }) => severity);
  assert.equal(severities, [...severities].sort());
  assert.is(found.find(({ kind }) => kind === "budget")?.count, 96);
  assert.is(found.find(({ kind, subject }) => kind === "endpoint" && subject.id === "end_5")?.severity, "critical");
  assert.ok(asked.every((stream) => stream.endsWith(NOW.slice(0, 10))));
});

test("a disabled endpoint for which events wait says why it is disabled, in one sentence", async () => {
  const log = broadHistory();
  const reason = "The receiver answered 410: it asks not to be called again.";
  log.add("endpoint-end_5", { type: "EndpointDisabled", data: { endpoint_id: "end_5", reason, at: at(500) } });
  log.add("delivery-evt_waits", deliveryFacts("evt_waits", "end_5").admitted());
  const { needs } = await opened(log);
  const found = (await needs(VIEWER)).find(({ subject }) => subject.id === "end_5");
  assert.match(
    found?.detail ?? "",
    /^It is disabled \(The receiver answered 410: it asks not to be called again\)\. \d+ /,
  );
});

test("a budget of which less than 90 % is used needs nobody, and ledgers are not asked anew for each member", async () => {
  const { needs, asked } = await opened(broadHistory(), 200_000_000);
  assert.not.ok(kindsOf(await needs(VIEWER)).includes("budget"));
  const before = asked.length;
  await needs(APPROVER);
  assert.is(asked.length, before);
});

test("approvals wait for those alone who may decide, and are urgent shortly before the first expires", async () => {
  const log = history();
  const asks = (id: string, over: object) => log.add(`approval-${id}`, approvalFacts(id, over).requested());
  asks("apr_1", { expires_at: at(700) });
  asks("apr_2", { requested_at: at(-60) });
  asks("apr_3", { requesters: ["mem_9"], exclude_requester: true });
  asks("apr_4", { expires_at: at(5) });
  const { needs } = await opened(log);
  const [need, ...more] = await needs(APPROVER);
  assert.equal(more, []);
  assert.equal(
    [need?.kind, need?.subject.id, need?.count, need?.since, need?.severity],
    ["approvals", "apr_1", 2, at(-60), "critical"],
  );
  assert.equal(await needs(VIEWER), []);
  assert.equal(await needs({ ...APPROVER, role: "viewer" }), []);
});

test("another account's troubles are not shown", async () => {
  const { needs } = await opened(broadHistory(), 240_000_000);
  assert.equal(await needs({ ...APPROVER, account: "acc_2" }), []);
});

test.run();
