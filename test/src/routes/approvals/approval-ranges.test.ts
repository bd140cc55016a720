import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ViewStore } from "../../../../domain/ports/view-store.ts";
import { approvals } from "../../../../projections/approvals.ts";
import { events } from "../../../../projections/events.ts";
import { approvalsWorld, person } from "../../../support/approvals-world.ts";
import { inEachViewStore } from "../../../support/each-view-store.ts";

const test = suite("approvals by range and status");
const SCHEMAS = [events.schema, approvals.schema];
const ANA = person("mem_ana");
const HOUR_MS = 3_600_000;
const AT = ["2026-03-01T12:00:00.000Z", "2026-03-01T13:00:00.000Z", "2026-03-01T14:00:00.000Z"] as const;

/** An approval is asked for in each of four hours: the first is rejected, the second approved, and two wait. */
const listsRightly = async (views: ViewStore): Promise<void> => {
  const world = approvalsWorld({ views });
  const ids: string[] = [];
  for (let hour = 0; hour < 4; hour += 1) {
    const { approvalId, digest } = await world.asked(hour, { rule: { expires_after_s: 86_400 } });
    ids.push(approvalId);
    const vote = { digest, comment: "Seen" };
    if (hour < 2) await world.vote(ANA, hour === 0 ? "reject" : "approve", approvalId, vote);
    world.clock.advance(HOUR_MS);
  }
  await world.project();
  const listed = async (query: object, who = ANA) => {
    const { data, total } = (await world.list(query, who)).body;
    return [(data as { id: string }[]).map(({ id }) => ids.indexOf(id)), total];
  };
  assert.equal(await listed({ total: "true" }), [[3, 2, 1, 0], 4]);
  assert.equal(await listed({ from: AT[1], total: "true" }), [[3, 2, 1], 3]);
  assert.equal(await listed({ from: AT[0], to: AT[2], total: "true" }), [[1, 0], 2], "the end does not belong to it");
  assert.equal(await listed({ status: "approved,consumed,rejected", total: "true" }), [[1, 0], 2]);
  assert.equal(await listed({ status: "rejected,pending", to: AT[2], total: "true" }), [[0], 1]);
  assert.equal(await listed({ for: "decided", from: AT[1] }), [[1], undefined]);
  assert.equal(await listed({ for: "all", to: "2026-03-01T15:00:00Z" }), [[2], undefined]);
  const soon = await world.asked(4, { rule: { expires_after_s: 60 } });
  ids.push(soon.approvalId);
  await world.project();
  const expiry = { for: "all", order: "expiry", limit: 2 };
  assert.equal(await listed(expiry), [[4, 2], undefined]);
  const further = (await world.list(expiry, ANA)).body.next_cursor;
  assert.equal(await listed({ ...expiry, cursor: further }), [[3], undefined], "what expires last comes last");
  world.clock.advance(HOUR_MS);
  assert.equal(await listed(expiry), [[2, 3], undefined], "what is overdue waits for nobody");
  const all = { status: "consumed,rejected,pending", to: "2026-03-01T16:00:00Z", limit: 3 };
  const { data, next_cursor: cursor } = (await world.list(all, ANA)).body;
  assert.is((data as readonly unknown[]).length, 3);
  assert.equal(await listed({ ...all, cursor }), [[0], undefined], "the next page goes on where the first ended");
  const counted = async (query: object, who = ANA) => (await world.list(query, who)).body.counts;
  const counts = "pending,rejected,consumed,expired";
  const whole = { pending: 2, rejected: 1, consumed: 1, expired: 0 };
  const before = { to: "2026-03-01T16:00:00Z" };
  assert.equal(await counted({ ...before, counts, limit: 1 }), whole, "with each status, however short the page is");
  assert.equal(await counted({ ...before, counts, status: "rejected" }), whole, "in place of `status`");
  assert.equal(await counted({ counts: "pending,rejected", to: AT[2] }), { pending: 0, rejected: 1 });
  assert.is(await counted({ counts, for: "all" }), undefined, "who may decide is not counted");
  assert.is(await counted({}), undefined);
  const stranger = person("mem_ana", "approver", "acc_b");
  assert.equal(await listed({ from: AT[0], status: "pending,rejected", total: "true" }, stranger), [[], 0]);
  assert.equal(await counted({ counts: "pending" }, stranger), { pending: 0 });
  const asked = [0, 3, 3].map((at) => ids[at]).join(",");
  assert.equal(await listed({ ids: asked, total: "true" }), [[3, 0], 2], "these, whatever became of them");
  assert.equal(await listed({ ids: asked, status: "rejected", total: "true" }), [[0], 1]);
  assert.equal(await counted({ ids: asked, counts: "pending,rejected" }), { pending: 1, rejected: 1 });
  const half = (await world.list({ ids: asked, limit: 1 }, ANA)).body.next_cursor;
  assert.equal(await listed({ ids: asked, limit: 1, cursor: half }), [[0], undefined]);
  assert.equal(await listed({ ids: asked }, stranger), [[], undefined], "nobody else's");
  const wrong = await world.list({ from: "yesterday" }, ANA);
  assert.match(JSON.stringify(wrong), "The parameter from must be a time with its zone");
};

inEachViewStore(test, "lists of approvals", SCHEMAS, listsRightly);

test.run();
