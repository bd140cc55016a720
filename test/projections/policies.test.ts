import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../domain/json.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Document } from "../../domain/ports/view-store.ts";
import { policies, policyVersions } from "../../projections/policies.ts";
import type { Projection } from "../../projections/projection.ts";

const test = suite("policies views");

const recorded = (version: number, type = "PolicyPublished"): RecordedEvent => {
  const at = `2026-03-0${version}T12:00:00.000Z`;
  const definition: JsonObject = { name: `v${version}`, require_fields: ["id"] };
  return {
    id: `00000000-0000-8000-a000-00000000000${version}`,
    type,
    data: { policy_id: "pol_1", account: "acc_1", version, definition, created_by: "mem_1", at },
    meta: {
      account: "acc_1",
      actor: { kind: "member", id: "mem_1" },
      command_id: `cmd_${version}`,
      trace_id: "0".repeat(32),
      span_id: "0".repeat(16),
      causation_id: null,
      recorded_at: at,
      schema: 1,
    },
    stream: "policy-pol_1",
    revision: version - 1,
    position: String(version).padStart(16, "0"),
  };
};

const folded = (projection: Projection, events: readonly RecordedEvent[]): ReadonlyMap<string, Document> => {
  const documents = new Map<string, Document>();
  for (const event of events) {
    projection.apply(event, {
      get: (id) => documents.get(id) ?? null,
      put: (id, document) => {
        if (document === null) documents.delete(id);
        else documents.set(id, document);
      },
    });
  }
  return documents;
};

const page = [recorded(1), recorded(2)];

test("the list has the newest version, sorted by the first", () => {
  const document = folded(policies, page).get("pol_1");
  assert.is(document?.version, 2);
  assert.is(document?.created_at, "2026-03-02T12:00:00.000Z");
  assert.is(document?.first_at, "2026-03-01T12:00:00.000Z");
  assert.equal(document?.definition, { name: "v2", require_fields: ["id"] });
});

test("every version is listed", () => {
  assert.equal([...folded(policyVersions, page).keys()], ["pol_1/1", "pol_1/2"]);
});

test("a page that is applied twice changes nothing", () => {
  for (const projection of [policies, policyVersions])
    assert.equal(folded(projection, [...page, ...page]), folded(projection, page));
});

test("other events are ignored", () => {
  for (const projection of [policies, policyVersions])
    assert.equal(projection.idsOf(recorded(1, "SourceRegistered")), []);
});

test.run();
