import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ViewsUnavailable } from "../../../infra/view-errors.ts";
import { expectedProblem } from "../../../src/http/problem-error.ts";

const test = suite("refused: views");

test("views that do not answer are unavailable, worth another try, and tell nothing of the inside", () => {
  const it = expectedProblem(new ViewsUnavailable("/data/views.db cannot be read"));
  assert.is(it?.problem, "unavailable");
  assert.ok(Number(it?.retryAfterS) > 0);
  assert.not.match(JSON.stringify(it), "views.db");
});

test.run();
