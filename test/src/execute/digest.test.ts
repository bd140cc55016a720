import { createHash } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { canonicalJson } from "../../../domain/evidence/canonical-json.ts";
import { actionDigest } from "../../../src/execute/digest.ts";

const test = suite("digests of actions");

const IDENTITY = {
  ...{ account: "acc_1", agent: "agt_1", action: "refund.create", version: 1, target: "end_1" },
  payload: { amount: 7 },
};

test("without its key an action's digest does not tell a guess of a short payload from another", () => {
  const digest = actionDigest(Buffer.alloc(32, 1), IDENTITY);
  const { version: schema_version, ...rest } = IDENTITY;
  const forms = [canonicalJson({ ...rest, schema_version, bundle: null }), canonicalJson(IDENTITY.payload)];
  for (const form of forms) assert.is.not(digest, createHash("sha256").update(form).digest("hex"));
  assert.is.not(digest, actionDigest(Buffer.alloc(32, 2), IDENTITY));
  assert.is(digest, actionDigest(Buffer.alloc(32, 1), { ...IDENTITY }));
});

test.run();
