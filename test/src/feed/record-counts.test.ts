import { suite } from "uvu";
import * as assert from "uvu/assert";
import { recordCounts } from "../../../src/feed/record-counts.ts";
import { until } from "../../support/program.ts";

const test = suite("counts of records that streams follow");

test("once the last stream has ended the views are not read again, and a read that fails then is no error", async () => {
  const errors: unknown[] = [];
  const silenced: string[] = [];
  let reads = 0;
  let fail = (_: Error): void => undefined;
  const views = {
    getMany: () => {
      reads += 1;
      return new Promise<never>((_, reject) => (fail = reject));
    },
  };
  const progress = { onProgress: () => () => void silenced.push("silenced") };
  const counts = recordCounts(views, progress, (error) => errors.push(error));

  const first = counts.follow("acc_a", 0);
  await until("the views are read", () => reads === 1);
  fail(new Error("the views cannot be read"));
  await until("a failure is reported while a stream is open", () => errors.length === 1);

  await until("the views are read again", () => reads === 2);
  first.end();
  fail(new Error("the views are closed"));
  await until("nothing looks any more", () => silenced.length === 1);

  const second = counts.follow("acc_a", 0);
  second.end();
  await until("nothing looks any more", () => silenced.length === 2);
  assert.equal([reads, errors.length], [2, 1]);
});

test.run();
