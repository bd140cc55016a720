import { suite } from "uvu";
import * as assert from "uvu/assert";
import { leafBytes, leafOf } from "../../../domain/evidence/leaf.ts";
import { leafHash } from "../../../domain/evidence/merkle.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { RecordLinks } from "../../../domain/ports/key-map-store.ts";
import { sha256 } from "../../../infra/crypto/sha256.ts";
import { LeafHashes } from "../../../src/evidence/leaf-hashes.ts";
import { history } from "../../support/history.ts";

const test = suite("the hashes of many leaves");

test("each is that of the leaf's bytes, whatever their length, their characters and the leaf before", () => {
  const data: readonly JsonObject[] = [
    { text: "plain" },
    { text: "x".repeat(100_000) },
    { text: "y" },
    { text: "ä€😀".repeat(5_000) },
    { text: "\ud800 alone", "\udc00": 1 },
    { text: "the text \\ud800" },
    {},
  ];
  const hashes = new LeafHashes();
  for (const [index, one] of data.entries()) {
    const added = history().add("delivery-evt_1", { type: "EventAdmitted", data: one }, { account: "acc_1" });
    const meta = { ...added.meta, parent_span_id: "12ab34cd56ef7890", trace_id: 'a "trace' };
    // The second of two records with the same metadata, and then one with others.
    for (const record of [added, { ...added, revision: 7, type: "AttemptStarted" }, { ...added, meta }]) {
      const links: RecordLinks = [
        ['action:a "b"', [0, null]],
        ["evt_1", [index, index - 1]],
      ];
      const leaf = leafOf(sha256, record, { index, keys: Object.fromEntries(links) });
      assert.equal(
        hashes.of(record, index, links),
        leafHash(sha256, leafBytes(leaf)),
        JSON.stringify(one).slice(0, 40),
      );
    }
  }
});

test.run();
