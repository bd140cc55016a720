import { createHash } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { leafBytes, leafHash } from "../../../src/audit/leaf.ts";
import { withoutSealed } from "../../../src/audit/sealed.ts";
import { history } from "../../support/history.ts";

const test = suite("leaf");

test("a leaf is the whole record, and its hash that of RFC 6962", () => {
  const event = history().add("account-acc_1", { type: "AccountOpened", data: { name: "b", account: "a" } });
  const leaf = leafBytes(7, event);
  assert.ok(leaf.toString().startsWith('{"data":{"account":"a","name":"b"},"id":"00000000-'));
  assert.equal(Object.keys(JSON.parse(leaf.toString())), [
    "data",
    "id",
    "index",
    "metadata",
    "revision",
    "stream",
    "type",
  ]);
  const prefixed = Buffer.concat([Buffer.of(0), leaf]);
  assert.is(leafHash(leaf), createHash("sha256").update(prefixed).digest("hex"));
  // The hash of the empty leaf, as other implementations of RFC 6962 publish it.
  assert.is(leafHash(Buffer.alloc(0)), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
});

test("sealed fields are masked, and fields of the same name elsewhere are not", () => {
  const shown = withoutSealed({
    secret: "s",
    password: "p",
    headers: { "x-key": "v" },
    changes: { headers: { "x-key": "v" }, name: "n" },
    definition: { schema: { properties: { password: { type: "string" } } } },
  });
  assert.equal(shown, {
    secret: "[sealed]",
    password: "[sealed]",
    headers: { "x-key": "[sealed]" },
    changes: { headers: { "x-key": "[sealed]" }, name: "n" },
    definition: { schema: { properties: { password: { type: "string" } } } },
  });
});

test.run();
