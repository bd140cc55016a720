import { test } from "uvu";
import * as assert from "uvu/assert";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import { bundleOf, categoryOf, deliveryOf, subjectOf } from "../../projections/streams.ts";

const recordIn = (stream: string) => ({ stream }) as RecordedEvent;

test("a stream's name is its category, a dash and its subject, which may have further dashes", () => {
  assert.is(categoryOf("ledger-acc_1-2026-01"), "ledger");
  assert.is(subjectOf("ledger-acc_1-2026-01"), "acc_1-2026-01");
  assert.is(categoryOf("plain"), "");
  assert.is(subjectOf("plain"), "plain");
  assert.is(categoryOf("-x"), "");
  assert.is(subjectOf("-x"), "x");
});

test("only the streams of deliveries and of bundles have their ids", () => {
  assert.is(deliveryOf(recordIn("delivery-evt_1")), "evt_1");
  assert.is(deliveryOf(recordIn("deliveries-evt_1")), null);
  assert.is(deliveryOf(recordIn("bundle-bun_1")), null);
  assert.is(bundleOf(recordIn("bundle-bun_1")), "bun_1");
  assert.is(bundleOf(recordIn("delivery-evt_1")), null);
});

test("names are taken apart rightly, however many there are", () => {
  for (const round of [1, 2])
    for (let n = 0; n < 10_000; n += 1) assert.is(deliveryOf(recordIn(`delivery-evt_${n}`)), `evt_${n}`, `${round}`);
});

test.run();
