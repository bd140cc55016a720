import { suite } from "uvu";
import * as assert from "uvu/assert";
import { isEndpointGone, isGone } from "../../../domain/delivery/gone.ts";

const test = suite("answer 410");

test("only the status 410 says that the endpoint is gone", () => {
  assert.equal([410, 404, 500, 200, null].map(isGone), [true, false, false, false, false]);
});

test("a 410 of a former target says nothing about the endpoint", () => {
  assert.is(isEndpointGone({ status_code: 410 }), true);
  assert.is(isEndpointGone({ status_code: 410, elsewhere: true }), false);
  assert.is(isEndpointGone({ status_code: 404 }), false);
});

test.run();
