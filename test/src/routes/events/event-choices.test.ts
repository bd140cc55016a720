import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Document } from "../../../../domain/ports/view-store.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { ORIGINS_MAX } from "../../../../projections/account-facets.ts";
import type { EventDocument } from "../../../../projections/event-document.ts";
import { events } from "../../../../projections/events.ts";
import { denialIn, gateDenials } from "../../../../projections/gate-denials.ts";
import { EVENT_STATUSES } from "../../../../projections/schemas/events.ts";
import { isPage } from "../../../../src/http/listing.ts";
import { searchEvents } from "../../../../src/routes/events/event-search.ts";
import { typedDocument } from "../../../../src/views/typed-documents.ts";
import { eventLives } from "../../../support/event-lives.ts";
import { deliveryFacts, type History, history } from "../../../support/history.ts";
import { folded } from "../../../support/projected.ts";

const test = suite("filters of events");

const viewsOf = async (log: History) => {
  const views = memoryViewStore([events.schema, gateDenials.schema]);
  for (const projection of [events, gateDenials]) {
    const documents = new Map<string, Document>(Object.entries(folded(projection, log.events, 50).all()));
    await views.commit(projection.schema.name, null, "1", { documents });
  }
  return views;
};

const opened = async (log: History) => {
  const views = await viewsOf(log);
  return async (account: string, query: Record<string, unknown>): Promise<readonly EventDocument[]> => {
    const page = await searchEvents(views, account, { limit: 100, ...query }, typedDocument<EventDocument>);
    assert.ok(isPage(page));
    return page.data;
  };
};

const someOf = (...values: readonly string[]) =>
  fc.option(
    fc.subarray([...values], { minLength: 1 }).map((some) => some.join(",")),
    { nil: undefined },
  );

test("the counts are those of the lists with each status, and are left out where nothing can be counted", async () => {
  await fc.assert(
    fc.asyncProperty(eventLives, someOf("source", "agent"), someOf("failed", "held"), async (log, origin, status) => {
      const views = await viewsOf(log);
      const pageOf = async (query: Record<string, unknown>) => {
        const page = await searchEvents(views, "acc_1", { limit: 100, origin, ...query }, typedDocument<EventDocument>);
        assert.ok(isPage(page));
        return page;
      };
      const counts: Record<string, number> = {};
      for (const one of EVENT_STATUSES) counts[one] = (await pageOf({ status: one })).data.length;
      const counted = { status, counts: EVENT_STATUSES.join(",") };
      assert.equal((await pageOf({ ...counted, limit: 1 })).counts, counts);
      assert.is((await pageOf({ ...counted, q: "payment" })).counts, undefined);
    }),
    { numRuns: 20 },
  );
});

test("several values of a filter mean any of them, and several filters all of them", async () => {
  await fc.assert(
    fc.asyncProperty(
      eventLives,
      someOf("blocked", "delivered", "failed", "held"),
      someOf("source", "agent", "system"),
      fc.constantFrom(undefined, "budget", "rate"),
      fc.constantFrom(undefined, "pol_1"),
      async (log, status, origin, gate, policy_id) => {
        const search = await opened(log);
        const documents = Object.values(folded(events, log.events, 50).all()).map(typedDocument<EventDocument>);
        const asked = Object.entries({ status, origin, gate, policy_id }).filter(([, value]) => value !== undefined);
        const found = await search("acc_1", Object.fromEntries(asked));
        const wanted = documents.filter(
          (event) =>
            event.account === "acc_1" &&
            (status === undefined || status.split(",").includes(event.status)) &&
            (origin === undefined || origin.split(",").includes(event.origin_kind)) &&
            (gate === undefined || (event.status === "blocked" && denialIn(event.verdict)?.gate === gate)) &&
            (policy_id === undefined || event.verdict.policy?.id === policy_id),
        );
        assert.equal(
          found.map(({ received_at }) => received_at),
          wanted
            .map(({ received_at }) => received_at)
            .sort()
            .reverse(),
        );
      },
    ),
    { numRuns: 60 },
  );
});

test("the requests of a run are found by the agent's own id of it, in its own account alone", async () => {
  const log = history();
  const origin = { kind: "agent", id: "agt_1", name: "bot", type: "agent" } as const;
  const add = (id: string, run: string | null, account = "acc_1") =>
    log.add(`delivery-${id}`, deliveryFacts(id).admitted({ origin, run: { id: run, depth: 0 } }), { account });
  add("evt_1", "ticket-1");
  add("evt_2", "ticket-2");
  add("evt_3", null);
  add("evt_4", "ticket-1", "acc_2");
  const search = await opened(log);
  assert.equal(
    (await search("acc_1", { run: "ticket-1" })).map(({ run_id }) => run_id),
    ["ticket-1"],
  );
  assert.equal(await search("acc_1", { run: "ticket-3" }), []);
});

test("agents' events are found even where so many origins were seen that the first are forgotten", async () => {
  const log = history();
  const agent = { kind: "agent", id: "agt_1", name: "bot", type: "agent" } as const;
  log.add("delivery-evt_0", deliveryFacts("evt_0").admitted({ origin: agent }));
  for (let n = 1; n <= ORIGINS_MAX; n += 1) {
    const origin = { kind: "source", id: `src_${n}`, name: "shop", type: "stripe" } as const;
    log.add(`delivery-evt_${n}`, deliveryFacts(`evt_${n}`).admitted({ origin }));
  }
  const search = await opened(log);
  assert.equal(
    (await search("acc_1", { origin: "agent" })).map(({ origin_id }) => origin_id),
    ["agt_1"],
  );
});

test.run();
