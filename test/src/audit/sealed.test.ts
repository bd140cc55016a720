import { suite } from "uvu";
import * as assert from "uvu/assert";
import { withoutSealed } from "../../../src/audit/sealed.ts";

const test = suite("sealed fields");

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
