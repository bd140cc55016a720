import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { approvals } from "../../../../projections/approvals.ts";
import { bundles } from "../../../../projections/bundles.ts";
import { events } from "../../../../projections/events.ts";
import { titlesOf } from "../../../../src/routes/audit/subject-titles.ts";

const test = suite("the names of what records are about");

test("an event has its type, an approval its action and cost, a bundle its name, and none is of another account", async () => {
  const views = memoryViewStore([events.schema, approvals.schema, bundles.schema]);
  const put = (view: string, documents: Readonly<Record<string, object>>) =>
    views.commit(view, null, "0000000000000001", { documents: new Map(Object.entries(documents)) } as never);
  await put(events.schema.name, {
    evt_1: { account: "acc_1", type: "order.paid" },
    evt_2: { account: "acc_1", type: "" },
    evt_3: { account: "acc_2", type: "payout.sent" },
  });
  await put(approvals.schema.name, {
    apr_1: { account: "acc_1", action: "refund.create", summary: "", cost: 12_400_000 },
    apr_2: { account: "acc_1", action: null, summary: "A change of policy pol_1", cost: null },
  });
  await put(bundles.schema.name, {
    bun_1: { account: "acc_1", name: "Move the shop", cost: null },
    bun_2: { account: "acc_1", name: null, cost: 5 },
  });
  const ids = ["evt_1", "evt_2", "evt_3", "evt_4", "apr_1", "apr_2", "bun_1", "bun_2", "constructor", "pol_1", "evt_1"];
  assert.equal(
    [...(await titlesOf({ views }, "acc_1", ids))],
    [
      ["evt_1", "order.paid"],
      ["apr_1", "refund.create, 12.40 EUR"],
      ["apr_2", "A change of policy pol_1"],
      ["bun_1", "Move the shop"],
    ],
  );
});

test.run();
