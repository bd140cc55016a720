import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Reply } from "../support/client.ts";
import { type EngineSet, type Engines, engineSets } from "../support/engine-sets.ts";
import { create, type Orders, type OrdersWorld, orders, ordersWorld } from "../support/orders.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";

type StepShown = { readonly status: string; readonly event_id: string | null };

const HELD = { approval: { when: 'payload.order == "large"', expires_after_s: 3_600 } };

const bundles = ({ name, open }: EngineSet): void => {
  const test = suite(`bundles: ${name}`);
  let engines: Engines;
  let program: Program;
  let shop: Orders;

  test.before(async () => {
    engines = await open();
    program = await startProgram(engines.env);
  });
  test.after(async () => {
    await program.stop();
    killPrograms();
    removeFolder(program.dir);
    await engines.close();
  });
  test.before.each(async () => {
    shop = await orders();
  });
  test.after.each(() => shop.target.close());

  const world = (policy: Record<string, unknown> = {}): Promise<OrdersWorld> =>
    ordersWorld(program.url, shop.target, { policy });

  const statusesOf = ({ body }: Reply): readonly string[] => [
    body.status,
    ...body.steps.map(({ status }: StepShown) => status),
  ];

  const hasStatus = ({ agent }: OrdersWorld, id: string, status: string): Promise<Reply> =>
    until(`${id} is ${status}`, async () => {
      const shown = await agent.bundleNow(id);
      return shown.body.status === status ? shown : null;
    });

  /** What it has spent in the end, and that nothing is left reserved. */
  const spent = ({ client, policyId }: OrdersWorld, eur: number): Promise<true> =>
    until(`${eur} EUR are settled`, async () => {
      const { body } = await client.call("GET", `/v1/policies/${policyId}/ledger`);
      return (body.reserved_eur === 0 && body.settled_eur === eur) || null;
    });

  test("committed: each step done once in its order, answered with what the targets said, paid for; a repeat is the same", async () => {
    const it = await world();
    const mail = { action: "mail.send", payload: { order: "mail", of: { $result: { step: 0, pointer: "/id" } } } };
    const steps = [create("a"), { ...create("b"), action: "order.note" }, mail];
    const done = await it.agent.bundle("one", steps, { name: "checkout", run_id: "run-1" });
    assert.is(done.status, 200, JSON.stringify(done.body));
    assert.equal(statusesOf(done), ["committed", "succeeded", "succeeded", "succeeded"]);
    assert.equal(shop.arrived(), ["create a", "create b", "create mail"]);
    assert.equal(JSON.parse(shop.target.arrivals[2]?.body ?? ""), { order: "mail", of: "id of a" });
    assert.equal(done.body.steps[0].result, { status_code: 200, body: { id: "id of a" } });
    for (const [index, { id, headers }] of shop.target.arrivals.entries()) {
      assert.is(done.body.steps[index].event_id, id);
      assert.equal([headers["countersign-bundle"], headers["countersign-run"]], [done.body.id, "run-1"]);
    }
    const again = await it.agent.bundle("one", steps, { name: "checkout", run_id: "run-1" });
    assert.equal([again.status, again.body], [200, done.body]);
    assert.is(again.headers.get("idempotent-replayed"), "true");
    assert.is(shop.target.arrivals.length, 3);
    await spent(it, 3);
  });

  test("rolled back: what was done before the failure is taken back in reverse order, and nothing is spent", async () => {
    const it = await world();
    const done = await it.agent.bundle("two", [create("a"), create("b"), create("c", { do: "refuse" }), create("d")]);
    assert.is(done.status, 200, JSON.stringify(done.body));
    assert.equal(statusesOf(done), ["rolled_back", "compensated", "compensated", "failed", "skipped"]);
    assert.equal(shop.arrived(), ["create a", "create b", "create c", "cancel b", "cancel a"]);
    assert.is(shop.effects.size, 0);
    const [, , , undone] = shop.target.arrivals;
    assert.is(undone?.id, done.body.steps[1].compensation_event_id);
    assert.equal(JSON.parse(undone?.body ?? ""), {
      payload: { order: "b" },
      result: { id: "id of b" },
      forward_webhook_id: done.body.steps[1].event_id,
    });
    assert.equal(
      done.body.steps.map((step: { cost_eur: number | null }) => step.cost_eur),
      [0, 0, 0, null],
    );
    await spent(it, 0);
  });

  test("a step answered 410 disables the endpoint, and its undo is sent all the same", async () => {
    const it = await world();
    const steps = [create("a"), create("b"), create("c", { do: "gone" })];
    const done = await it.agent.bundle("gone", steps);
    assert.equal(statusesOf(done), ["rolled_back", "compensated", "compensated", "failed"]);
    assert.equal(shop.arrived(), ["create a", "create b", "create c", "cancel b", "cancel a"]);
    assert.is(shop.effects.size, 0);
  });

  test("rollback incomplete: steps that could not be undone are named, and a person resolves them", async () => {
    const it = await world();
    const steps = [create("a"), create("b", { undo: "refuse" }), create("c", { do: "refuse" })];
    const done = await it.agent.bundle("three", steps);
    assert.equal(statusesOf(done), ["rollback_incomplete", "compensated", "compensation_failed", "failed"]);
    assert.equal(
      done.body.left.map(({ index, action }: { index: number; action: string }) => [index, action]),
      [[1, "order.create"]],
    );
    assert.equal([...shop.effects.values()], ["b"]);
    const path = `/v1/bundles/${done.body.id}/steps/1/resolve`;
    const resolved = await it.client.session("POST", path, { comment: "called them" });
    assert.is(resolved.status, 200, JSON.stringify(resolved.body));
    assert.equal(statusesOf(resolved), ["rolled_back", "compensated", "compensated", "failed"]);
  });

  test("a step whose answer was lost is undone, whether it was done or not", async () => {
    const it = await world();
    for (const how of ["lost", "dropped"] as const) {
      const done = await it.agent.bundle(how, [create("a"), create("b", { do: how })]);
      assert.equal(statusesOf(done), ["rolled_back", "compensated", "compensated"], how);
      const undo = shop.target.arrivals.find(({ id }) => id === done.body.steps[1].compensation_event_id);
      assert.is(JSON.parse(undo?.body ?? "").result, null);
      assert.equal([shop.arrived().slice(2), shop.effects.size], [["cancel b", "cancel a"], 0], how);
      shop.target.arrivals.length = 0;
    }
  });

  test("an irreversible step whose answer was lost is left to a person", async () => {
    const it = await world();
    const done = await it.agent.bundle("mail", [create("a"), { ...create("b", { do: "lost" }), action: "mail.send" }]);
    assert.equal(statusesOf(done), ["rollback_incomplete", "compensated", "unknown"]);
    assert.equal([...shop.effects.values()], ["b"]);
  });

  test("cancelled while a step runs: its end is awaited, and all steps are undone", async () => {
    const it = await world();
    const steps = [create("a"), create("b", { do: "hang" }), create("c")];
    const begun = await it.agent.bundle("four", steps, { wait_ms: 0 });
    assert.equal([begun.status, begun.headers.get("location")], [202, `/v1/bundles/${begun.body.id}`]);
    await until("the second runs", () => shop.hanging() === 1);
    const cancelled = await it.agent.cancelBundle(begun.body.id);
    assert.is(cancelled.body.status, "rolling_back", JSON.stringify(cancelled.body));
    assert.equal(shop.arrived(), ["create a", "create b"]);
    shop.letGo();
    const done = await hasStatus(it, begun.body.id, "rolled_back");
    assert.equal(statusesOf(done), ["rolled_back", "compensated", "compensated", "skipped"]);
    assert.equal(shop.arrived().slice(2), ["cancel b", "cancel a"]);
    assert.is(shop.effects.size, 0);
  });

  const approvalOf = ({ client }: OrdersWorld, id: string) =>
    until(`approval ${id} is shown`, async () => {
      const shown = await client.session("GET", `/v1/approvals/${id}`);
      return shown.status === 200 ? shown.body : null;
    });

  test("held for one step, the whole is shown to a person; approved, all of it is done", async () => {
    const it = await world(HELD);
    const begun = await it.agent.bundle("five", [create("small"), create("large")]);
    assert.equal([begun.status, begun.body.status], [202, "held"], JSON.stringify(begun.body));
    const shown = await approvalOf(it, begun.body.approval_id);
    assert.equal([shown.status, shown.bundle_id, shown.payload.length], ["pending", begun.body.id, 2]);
    assert.is(shop.target.arrivals.length, 0);
    const voted = await it.client.session("POST", `/v1/approvals/${shown.id}/approve`, { digest: shown.digest });
    assert.is(voted.status, 200, JSON.stringify(voted.body));
    await hasStatus(it, begun.body.id, "committed");
    assert.equal(shop.arrived(), ["create small", "create large"]);
    await spent(it, 2);
  });

  test("a bundle rejected or cancelled while held does nothing and spends nothing", async () => {
    const it = await world(HELD);
    const one = await it.agent.bundle("six", [create("large")]);
    const shown = await approvalOf(it, one.body.approval_id);
    await it.client.session("POST", `/v1/approvals/${shown.id}/reject`, { digest: shown.digest, comment: "no" });
    const rejected = await hasStatus(it, one.body.id, "cancelled");
    assert.equal([rejected.body.hold_outcome, rejected.body.reason], ["rejected", "no"]);
    const other = await it.agent.bundle("seven", [create("large", { undo: "ok" })]);
    await it.agent.cancelBundle(other.body.id);
    await until("nobody is asked any longer", async () => {
      const { body } = await it.client.session("GET", `/v1/approvals/${other.body.approval_id}`);
      return body.status === "cancelled";
    });
    assert.is((await it.agent.bundleNow(other.body.id)).body.hold_outcome, "cancelled");
    assert.is(shop.target.arrivals.length, 0);
    await spent(it, 0);
  });

  test("a suspended agent's running bundles are rolled back, and its held ones cancelled", async () => {
    const it = await world(HELD);
    const held = await it.agent.bundle("eight", [create("large")]);
    const begun = await it.agent.bundle("nine", [create("a"), create("b", { do: "hang" }), create("c")], {
      wait_ms: 0,
    });
    await until("the second runs", () => shop.hanging() === 1);
    await it.client.call("POST", `/v1/agents/${it.agent.id}/suspend`, { reason: "stop" });
    const shownTo = async (id: string): Promise<Reply["body"]> =>
      (await it.client.call("GET", `/v1/bundles/${id}`)).body;
    const isNow = (id: string, status: string) =>
      until(`${id} is ${status}`, async () => {
        const body = await shownTo(id);
        return body.status === status ? body : null;
      });
    await isNow(begun.body.id, "rolling_back");
    shop.letGo();
    const { reason } = await isNow(begun.body.id, "rolled_back");
    assert.match(reason, /suspended: stop/);
    await isNow(held.body.id, "cancelled");
    assert.equal(shop.arrived(), ["create a", "create b", "cancel b", "cancel a"]);
    assert.is(shop.effects.size, 0);
    await spent(it, 0);
  });

  test.run();
};

for (const set of engineSets()) bundles(set);
