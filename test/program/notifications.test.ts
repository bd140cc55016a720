import { Webhook } from "standardwebhooks";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { awayFromMidnight } from "../support/calendar-room.ts";
import { type Client, hookSource, signUp } from "../support/client.ts";
import { type EngineSet, type Engines, engineSets, locationsIn } from "../support/engine-sets.ts";
import { fieldOf, readLogAt } from "../support/log-facts.ts";
import { type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { type Arrival, type Receiver, receiver } from "../support/receiver.ts";

const ALL = ["approval.requested", "approval.decided", "agent.suspended", "agent.resumed", "budget.threshold"];

/** What people are told of, over the whole program. */
const notifications = ({ name, open }: EngineSet): void => {
  const test = suite(`notifications: ${name}`);
  let engines: Engines;
  let program: Program;
  let pager: Receiver;
  let app: Receiver;

  test.before(async () => {
    engines = await open();
    [program, pager, app] = await Promise.all([startProgram(engines.env), receiver(), receiver()]);
  });
  test.after(async () => {
    await program.stop();
    await Promise.all([pager.close(), app.close()]);
    removeFolder(program.dir);
    await engines.close();
  });
  test.before.each(async () => {
    await awayFromMidnight();
    pager.arrivals.splice(0);
  });

  /** An account with an endpoint that subscribes, and one that webhooks go to. */
  const world = async (subscribed: readonly string[] = ALL) => {
    const client = await signUp(program.url);
    const told = await client.make("/v1/endpoints", {
      name: "pager",
      url: pager.url,
      retry_schedule_s: [1, 1],
      notifications: subscribed,
    });
    const target = await client.make("/v1/endpoints", { name: "app", url: app.url });
    return { client, told, target };
  };

  const arrived = (type: string, count: number) =>
    until(`${count} of ${type} have arrived`, () => {
      const found = pager.arrivals.filter(({ body }) => JSON.parse(body).type === type);
      return found.length >= count ? found : null;
    });

  /** Signed as every delivery is; answers what it says. */
  const verified = ({ body, headers }: Arrival, secret: string) => {
    const names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    new Webhook(secret).verify(body, Object.fromEntries(names.map((it) => [it, String(headers[it])])));
    assert.is(headers["content-type"], "application/json");
    return JSON.parse(body);
  };

  const one = async (type: string, secret: string) => {
    const [arrival, ...more] = await arrived(type, 1);
    assert.equal(more, []);
    return arrival === undefined ? assert.unreachable() : verified(arrival, secret);
  };

  const holding = async (client: Client, endpoint_id: string) => {
    const policy = await client.make("/v1/policies", { name: "all", approval: { expires_after_s: 3_600 } });
    return await hookSource(client, { endpoint_id, policy_id: policy.id });
  };

  test("an approval that is asked for and decided arrives, each once, and is an event as any other", async () => {
    const { client, told, target } = await world();
    const source = await holding(client, target.id);
    const { body: held } = await source.send("large", { secret_of_the_sender: "s3cret" });
    const requested = await one("approval.requested", told.signing_secret);
    const { data } = requested;
    assert.equal([data.approval_id, data.event_id], [held.approval_id, held.event_id]);
    assert.not.match(JSON.stringify(requested), "s3cret");

    // What it says is enough to decide by.
    const path = `/v1/approvals/${data.approval_id}/approve`;
    assert.is((await client.session("POST", path, { digest: data.digest })).status, 200);
    const decided = await one("approval.decided", told.signing_secret);
    assert.equal([decided.data.approval_id, decided.data.outcome], [data.approval_id, "approved"]);
    await until("the webhook itself arrives", () => app.counts().get(held.event_id) === 1);

    const id = String(pager.arrivals.find(({ body }) => JSON.parse(body).type === "approval.requested")?.id);
    const event = await until("the console shows it", async () => {
      const shown = await client.call("GET", `/v1/events/${id}`);
      return shown.body.status === "delivered" ? shown.body : null;
    });
    const origin = { kind: "system", id: "approval.requested", name: "approval.requested", type: "notification" };
    assert.equal([event.origin, event.type, event.endpoint_id], [origin, "approval.requested", told.id]);
    assert.equal(
      event.timeline.map(({ stage }: { stage: string }) => stage),
      ["admitted", "attempt", "delivered"],
    );
    assert.equal((await client.call("GET", `/v1/events/${id}/payload`)).body, requested);
    const ids = async (query: string) =>
      (await client.call("GET", `/v1/events?${query}`)).body.data.map((it: { id: string }) => it.id);
    assert.equal(await ids(`endpoint_id=${told.id}&q=approval.requested`), [id]);
    // By what it is about, and whom it was told to: the same of both.
    const query = `q=${encodeURIComponent(event.delivery_id)}`;
    const both = await until("both are found", async () => {
      const found = await ids(query);
      return found.length === 2 ? found : null;
    });
    assert.ok(both.includes(id));
    assert.equal(await ids(`source_id=${source.id}`), [held.event_id]);
    // Only admitted source events count.
    const used = await until("it is counted", async () => {
      const { events } = (await client.call("GET", "/v1/billing/summary")).body.usage;
      return events > 0 ? events : null;
    });
    assert.is(used, 1);
  });

  test("a suspended agent, and one that may act again", async () => {
    const { client, told } = await world();
    const agent = await client.make("/v1/agents", { name: "refunds", scope: { actions: ["refund.*"] } });
    await client.call("POST", `/v1/agents/${agent.id}/suspend`, { reason: "too many refunds" });
    const { data } = await one("agent.suspended", told.signing_secret);
    assert.equal([data.agent_id, data.name], [agent.id, "refunds"]);
    assert.not.match(JSON.stringify(data), "too many refunds");
    await client.call("POST", `/v1/agents/${agent.id}/resume`);
    assert.is((await one("agent.resumed", told.signing_secret)).data.agent_id, agent.id);
  });

  test("each threshold of a day's budget once, whatever is sent at once", async () => {
    const { client, told, target } = await world();
    const definition = { name: "payments", budget_eur_day: 1, cost: { fixed_eur: 0.05 } };
    const policy = await client.make("/v1/policies", definition);
    const source = await hookSource(client, { endpoint_id: target.id, policy_id: policy.id });
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => source.send(`n${n}`)));
    assert.is(answers.filter(({ status }) => status === 202).length, 20);
    const found = (await arrived("budget.threshold", 3)).map((arrival) => verified(arrival, told.signing_secret).data);
    assert.equal(
      found.map((it) => it.threshold_percent).sort((a, b) => a - b),
      [50, 80, 100],
    );
    for (const { policy_id, name, budget_eur_day, used_eur, threshold_percent } of found) {
      assert.equal([policy_id, name, budget_eur_day], [policy.id, "payments", 1]);
      assert.ok(used_eur * 100 >= threshold_percent && used_eur <= 1, String(used_eur));
    }
  });

  test("a notification that a receiver refuses is sent again under its id, without a notification about that", async () => {
    const { client, told } = await world();
    let refusals = 1;
    pager.answer((_, response) => {
      response.statusCode = refusals > 0 ? 500 : 200;
      refusals -= 1;
      response.end();
    });
    const agent = await client.make("/v1/agents", { name: "refunds", scope: { actions: ["*"] } });
    await client.call("POST", `/v1/agents/${agent.id}/suspend`, { reason: "now" });
    const found = await arrived("agent.suspended", 2);
    assert.is(new Set(found.map(({ id }) => id)).size, 1);
    for (const arrival of found) verified(arrival, told.signing_secret);
    assert.equal([...new Set(pager.arrivals.map(({ body }) => JSON.parse(body).type))], ["agent.suspended"]);
  });

  test("only known notifications can be subscribed to, and only those are sent", async () => {
    const { client, told, target } = await world(["agent.suspended"]);
    const wrong = await client.call("PATCH", `/v1/endpoints/${told.id}`, { notifications: ["agent.resigned"] });
    assert.equal([wrong.status, wrong.body.errors[0].path], [400, "/notifications/0"]);
    for (const it of ALL) assert.match(wrong.body.detail, it);
    const source = await holding(client, target.id);
    const { body: held } = await source.send("large");
    const agent = await client.make("/v1/agents", { name: "refunds", scope: { actions: ["*"] } });
    await client.call("POST", `/v1/agents/${agent.id}/suspend`, { reason: "now" });
    // It comes behind the hold in the log.
    await arrived("agent.suspended", 1);
    assert.equal(
      pager.arrivals.map(({ body }) => JSON.parse(body).type),
      ["agent.suspended"],
    );
    assert.is(held.status, "held");
  });

  test("killed again and again during requests for approval, it sends one notification for each", async () => {
    const { client, told, target } = await world(["approval.requested"]);
    const source = await holding(client, target.id);
    const held: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const sent = await Promise.all([0, 1, 2].map((n) => source.at(program.url).send(`${round}-${n}`, { round, n })));
      held.push(...sent.map(({ body }) => String(body.approval_id)));
      // Somewhere between the hold, the question and the notification.
      await new Promise((resolve) => setTimeout(resolve, 100 * round));
      await program.kill();
      program = await startProgram(engines.env, program.dir);
    }
    const ids = () => new Set(pager.arrivals.map(({ body }) => JSON.parse(body).data.approval_id));
    await until("each has arrived", () => held.every((id) => ids().has(id)));
    await program.stop();
    const admitted = (await readLogAt(locationsIn(engines, program.dir).log)).filter(
      (event) =>
        event.type === "EventAdmitted" &&
        event.meta.account === client.account &&
        fieldOf(event, "origin", "kind") === "system",
    );
    assert.is(admitted.length, held.length);
    assert.equal(new Set(admitted.map((event) => fieldOf(event, "endpoint_id"))), new Set([told.id]));
    program = await startProgram(engines.env, program.dir);
  });

  test.run();
};

for (const engineSet of engineSets()) notifications(engineSet);
