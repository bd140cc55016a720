import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../domain/json.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../infra/memory/view-store.ts";
import { sources } from "../../projections/sources.ts";
import { toEvents } from "../../src/streams/envelope.ts";
import { callOf } from "../support/call.ts";
import { foldInto } from "../support/fold-into.ts";

const test = suite("sources view");

const at = "2026-03-01T12:00:00.000Z";
const settings = { name: "shop", policy_id: null, endpoint_id: "end_1", status: "active" };
const registered = {
  type: "SourceRegistered",
  data: {
    ...settings,
    source_id: "src_1",
    account: "acc_1",
    type: "stripe",
    auth: null,
    dedupe: null,
    secret: "sealed",
    made_by: "mem_1",
    at,
  },
};

const documentAfter = async (...facts: { type: string; data: JsonObject }[]) => {
  const log = memoryEventLog();
  await log.append("source-src_1", "absent", toEvents([registered, ...facts], callOf({}).envelope));
  const views = memoryViewStore([sources.schema]);
  await foldInto(log, views, [sources]);
  return views.get(sources.schema.name, "src_1");
};

test("a source is shown with its settings and without its secret", async () => {
  assert.equal(await documentAfter(), {
    ...settings,
    account: "acc_1",
    type: "stripe",
    auth: null,
    dedupe: null,
    created_at: at,
  });
});

test("a change is shown; rotations and counted rejects are not", async () => {
  const document = await documentAfter(
    { type: "SourceChanged", data: { source_id: "src_1", changes: { endpoint_id: null, status: "paused" }, at } },
    {
      type: "SourceSecretRotated",
      data: { source_id: "src_1", secret: "other", made_by: "mem_1", previous_until: at, at },
    },
    { type: "SourceRejectsCounted", data: { source_id: "src_1", minute: at, counts: {}, clients: {}, at } },
  );
  assert.is(document?.endpoint_id, null);
  assert.is(document?.status, "paused");
  assert.not(JSON.stringify(document).includes("other"));
});

test("a deleted source is not shown", async () => {
  assert.is(await documentAfter({ type: "SourceDeleted", data: { source_id: "src_1", at } }), null);
});

test.run();
