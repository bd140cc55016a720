import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RecordedEvent } from "../../../domain/ports/event-log.ts";
import { pageSize } from "../../../src/following/page-size.ts";
import { numbered } from "../../support/numbered-log.ts";

const pageOf = (events: number, chars: number): readonly RecordedEvent[] =>
  Array.from({ length: events }, (_, n) => ({
    ...numbered(n, { body: "x".repeat(chars) }),
    stream: "payload-evt_1",
    revision: n,
    position: String(n),
  }));

const test = suite("page size");

test("the page grows over small events up to its limit", () => {
  const size = pageSize(500);
  for (let i = 0; i < 10; i += 1) size.learn(pageOf(size.events(), 300));
  assert.is(size.events(), 500);
});

test("after large events the next page holds only as many as fit", () => {
  const size = pageSize(500);
  size.learn(pageOf(64, 1024 * 1024));
  assert.is(size.events(), 8);
  size.learn(pageOf(8, 1024 * 1024));
  assert.is(size.events(), 8);
  for (let i = 0; i < 10; i += 1) size.learn(pageOf(size.events(), 300));
  assert.is(size.events(), 500, "and grows again");
});

test("a short page at the log's end says nothing about the next", () => {
  const size = pageSize(500);
  const before = size.events();
  size.learn(pageOf(1, 300));
  size.learn([]);
  assert.is(size.events(), before);
});

test.run();
