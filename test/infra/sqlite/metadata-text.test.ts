import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Metadata } from "../../../domain/ports/event-log.ts";
import { metadataIn, metadataText } from "../../../infra/sqlite/metadata-text.ts";

const test = suite("the text of metadata");

const META: Metadata = {
  account: "acc_5b7ozmga7tfri6vqdntzvxfisbmmfjdr",
  actor: { kind: "source", id: "src_dhlio7nfyha6lndz3a5rvik6wxcc7vjf" },
  command_id: "adm_4rhflbdek24p5zvl4qrmawcdmfcvswdd",
  trace_id: "ac1109847515c9dbac5cb5967d72022f",
  span_id: "5d8ddd016d84bd60",
  causation_id: null,
  recorded_at: "2026-11-23T19:51:45.050Z",
  schema: 1,
};

test("metadata are read as they were written, with and without what may be absent", () => {
  const all: readonly Metadata[] = [
    META,
    { ...META, parent_span_id: "00f067aa0ba902b7" },
    { ...META, causation_id: "7b1e2c9a-0000-8000-a000-000000000000", actor: { kind: "member", id: '"],[\\\u0000' } },
  ];
  for (const meta of all) assert.equal(metadataIn(metadataText(meta)), meta);
  // Digests of records are taken of their JSON, so the names keep their order.
  assert.is(JSON.stringify(metadataIn(metadataText(META))), JSON.stringify(META));
});

const { schema: _, ...withoutSchema } = META;

test("metadata that another program has extended are kept whole", () => {
  const extended: readonly object[] = [
    { ...META, tenant: "acme" },
    { ...META, actor: { ...META.actor, name: "shop" } },
    { account: "acc_1", actor: { kind: "system", id: "test" } },
    { ...withoutSchema, tenant: "acme" },
    { ...META, actor: { kind: "system", name: "shop" } },
  ];
  for (const meta of extended) assert.equal(metadataIn(metadataText(meta as Metadata)), meta);
});

test("a damaged text of metadata is refused", () => {
  const text = metadataText(META);
  for (const damaged of ["", "[]", "~", text.slice(0, 40), text.replace(/"acc_\w+",/, ""), `${text.slice(0, -1)},1,2]`])
    assert.throws(() => metadataIn(damaged), undefined, damaged);
});

test("the text is a third shorter than the object's", () => {
  assert.ok(metadataText(META).length * 1.4 < JSON.stringify(META).length);
});

test.run();
