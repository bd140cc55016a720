import { suite } from "uvu";
import * as assert from "uvu/assert";
import { onceFolded } from "../../../src/http/late-views.ts";
import { type Problem, problem } from "../../../src/streams/problems.ts";

const test = suite("reads of views that lag");

const MISSING = problem("not-found", "There is nothing at this address.");
const FOUND = { status: 200, body: {} };

const readOf = (answers: readonly (typeof FOUND | Problem)[], { reached = true, method = "GET" as const } = {}) => {
  const asked: string[] = [];
  let calls = 0;
  const deps = {
    head: async (what?: string) => `end of ${what}`,
    progress: {
      async waitFor(views: readonly string[], position: string) {
        asked.push(`${views.join()} at the ${position}`);
        return reached;
      },
    },
  };
  const answer = onceFolded({ method, reads: ["events.v1"] }, deps, async () => answers[calls++] ?? MISSING);
  return { answer, asked, calls: () => calls };
};

test("what was not found is looked for again once the view has folded the log's records", async () => {
  const read = readOf([MISSING, FOUND]);
  assert.is(await read.answer, FOUND);
  assert.equal(read.asked, ["events.v1 at the end of records"]);
});

test("what is still not found, or found at once, is not looked for again", async () => {
  const missing = readOf([MISSING, MISSING, FOUND]);
  assert.is(await missing.answer, MISSING);
  assert.is(missing.calls(), 2);
  const found = readOf([FOUND]);
  assert.is(await found.answer, FOUND);
  assert.equal(found.asked, []);
});

test("a view that does not catch up in time leaves the first answer", async () => {
  const read = readOf([MISSING, FOUND], { reached: false });
  assert.is(await read.answer, MISSING);
  assert.is(read.calls(), 1);
});

test.run();
