import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { base32, derivedId, randomId } from "../../../infra/crypto/ids.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";

const test = suite("ids");

test("base32 gives the vectors of RFC 4648, section 10", () => {
  const vectors = {
    "": "",
    f: "my",
    fo: "mzxq",
    foo: "mzxw6",
    foob: "mzxw6yq",
    fooba: "mzxw6ytb",
    foobar: "mzxw6ytboi",
  };
  for (const [text, encoded] of Object.entries(vectors)) assert.is(base32(Buffer.from(text)), encoded);
});
test("an id is its prefix and 32 characters of base32", () => {
  assert.match(derivedId("evt_", "a", "b"), /^evt_[a-z2-7]{32}$/);
  assert.match(randomId("src_", randomness), /^src_[a-z2-7]{32}$/);
});
test("derived ids never change, because existing logs contain them", () =>
  assert.is(derivedId("evt_", "a", "b"), "evt_cytv54hv2dvz3wpauuzhove73joiqy2y"));
test("other parts make another id, however they are cut", () =>
  fc.assert(
    fc.property(fc.array(fc.string()), fc.array(fc.string()), (one, other) => {
      const same = JSON.stringify(one) === JSON.stringify(other);
      assert.is(derivedId("x_", ...one) === derivedId("x_", ...other), same);
      assert.is.not(derivedId("x_", ...one, "ab", "c"), derivedId("x_", ...one, "a", "bc"));
    }),
  ));
test("random ids differ, and random numbers stay in [0, 1)", () => {
  const ids = new Set(Array.from({ length: 1_000 }, () => randomId("x_", randomness)));
  assert.is(ids.size, 1_000);
  for (let i = 0; i < 1_000; i += 1) {
    const number = randomness.number();
    assert.ok(number >= 0 && number < 1);
  }
});
test.run();
