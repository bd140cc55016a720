import type { Reply } from "../../test/support/client.ts";
import { until } from "../../test/support/program.ts";
import type { Sent } from "./scenes.ts";
import { paint, short, type Terminal } from "./terminal.ts";
import { expect, type World } from "./world.ts";

const RECORDS_MAX = 100;
const HASH_SHOWN = 16;

const after = (at: string, begin: string): string => `+${Date.parse(at) - Date.parse(begin)} ms`;

const read = async (world: World, path: string): Promise<Reply["body"]> => {
  const { status, body } = await world.client.call("GET", path);
  expect(status === 200, `GET ${path} was answered ${status}.`);
  return body;
};

export const timeline = async (world: World, out: Terminal, { eventId }: Sent): Promise<void> => {
  out.section(`What is kept of ${short(eventId)}: GET /v1/events/{id}`);
  const event = await read(world, `/v1/events/${eventId}`);
  for (const { stage, number, at } of event.timeline) {
    out.row(number === undefined ? stage : `${stage} ${number}`, after(at, event.received_at));
  }
  const stages = event.timeline.map(({ stage }: { stage: string }) => stage).join(" ");
  const expected = "received authenticated gated admitted attempt attempt attempt delivered";
  expect(stages === expected, `The timeline is "${stages}", and "${expected}" was expected.`);
  out.line();
  for (const attempt of event.attempts) {
    const { number, outcome, duration_ms: took, status_code: status, failure, response } = attempt;
    const colour = outcome === "succeeded" ? "green" : "yellow";
    const why = failure === null ? "" : `${failure.kind}; `;
    out.row(`attempt ${number}: ${status} in ${took} ms`, paint(colour, outcome), `${why}answered "${response.body}"`);
  }
};

export const auditTrail = async (world: World, out: Terminal, { eventId }: Sent): Promise<void> => {
  out.section("Its audit records, as the log has them: GET /v1/audit?subject=…&order=asc");
  const { data } = await read(world, `/v1/audit?subject=${eventId}&order=asc`);
  for (const { index, type, actor, leaf_hash: hash } of data) {
    out.row(`${index}  ${type}`, `${actor.kind} ${short(actor.id)}`, paint("dim", hash.slice(0, HASH_SHOWN)));
  }
  const types = data.map(({ type }: { type: string }) => type).join(" ");
  const tries = "AttemptStarted AttemptFailed AttemptStarted AttemptFailed AttemptStarted AttemptSucceeded";
  const expected = `EventAdmitted ${tries} EventDelivered`;
  expect(types === expected, `The records are "${types}", and "${expected}" were expected.`);
  const blocked = await read(world, `/v1/audit?type=EventBlocked&limit=${RECORDS_MAX}`);
  expect(
    blocked.data.length === world.counted.blocked,
    `${world.counted.blocked} requests were blocked and ${blocked.data.length} are in the audit log.`,
  );
  out.row(`and ${blocked.data.length}  EventBlocked`, "", "one for each refusal by a gate, with its verdict");
};

export const usage = async (world: World, out: Terminal): Promise<void> => {
  out.section("Usage: GET /v1/billing/summary");
  const { admitted, blocked } = world.counted;
  const summary = await until("the usage has been counted", async () => {
    const body = await read(world, "/v1/billing/summary");
    return body.usage.events + body.usage.blocked >= admitted + blocked ? body : null;
  });
  const { events, blocked: refused, included } = summary.usage;
  expect(events === admitted, `${admitted} events were admitted and ${events} are counted.`);
  expect(refused === blocked, `${blocked} requests were blocked and ${refused} are counted as such.`);
  out.row(
    "events",
    String(events),
    `of ${included.toLocaleString("en")} of the plan ${summary.plan}: exactly what was admitted`,
  );
  out.row("blocked", String(refused), "not counted as events; neither are duplicates and forgeries");
};

export const arrivals = (world: World, out: Terminal, recovered: Sent): void => {
  const counts = world.receiver.counts();
  const { admitted } = world.counted;
  expect(counts.size === admitted, `${admitted} events were admitted and ${counts.size} arrived.`);
  for (const [id, times] of counts) {
    const expected = id === recovered.eventId ? 3 : 1;
    expect(times === expected, `${id} arrived ${times} times, and ${expected} was expected.`);
  }
  out.row("arrived at the receiver", `${counts.size} events`, `in ${world.receiver.arrivals.length} requests`);
};
