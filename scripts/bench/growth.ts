import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import { openLog } from "../../src/engine/open-engines.ts";
import { until } from "../../test/support/program.ts";
import { measureLatency, type OpenLoop } from "./admission.ts";
import type { World } from "./bench-world.ts";
import { startChild } from "./child.ts";
import { type ConsoleTimes, measureConsole } from "./console-times.ts";
import { type BytesPerEvent, databaseBytes } from "./disk.ts";
import type { EngineSet } from "./engines.ts";
import { measureArrival } from "./pipeline.ts";
import type { SeedOrder, SeedOutcome, SeedStream } from "./seed.ts";
import { close, logOf, restarted, runtimeOf, type Subject, setUp, upToDate } from "./subject.ts";

export type Growth = {
  readonly events: number;
  readonly records: number;
  readonly seededPerS: number;
  /** Records a second that all views fold together while they are rebuilt. */
  readonly rebuiltPerS: number;
  readonly bytesPerEvent: BytesPerEvent;
  /** Seconds until /ready of the first start, with the views still to be built, and (`startS`) of a later one. */
  readonly firstStartS: number;
  readonly startS: number;
  readonly admission: OpenLoop;
  readonly console: ConsoleTimes;
  readonly rssAfterRebuildMiB: number;
  readonly rssMiB: number;
};

const textOf = ({ type, data, meta }: RecordedEvent): SeedStream["events"][number] => ({
  type,
  data: JSON.stringify(data),
  meta: JSON.stringify(meta),
});

/** The streams of an event that was delivered, to be copied. */
export const patternOf = async (subject: Subject): Promise<Omit<SeedOrder, "count">> => {
  const eventId = await until("an event is listed as delivered", async () => {
    const { body } = await subject.client.call("GET", "/v1/events?status=delivered&limit=1");
    return (body.data as readonly { readonly id: string }[])[0]?.id;
  });
  const place = logOf(subject);
  const log = await openLog(place, { readOnly: true });
  const stream = (category: string) => log.read(`${category}-${eventId}`, null, 100);
  const [payload, delivery] = await Promise.all([stream("payload"), stream("delivery")]);
  await log.close();
  const admitted = delivery[0]?.data as { readonly delivery_key: string; readonly received_at: string };
  const streams = [
    { category: "payload", events: payload.map(textOf) },
    { category: "delivery", events: delivery.map(textOf) },
  ];
  return { place, eventId, deliveryKey: admitted.delivery_key, receivedAt: admitted.received_at, streams };
};

const per = (bytes: number | null, events: number): number | null => (bytes === null ? null : bytes / events);

export const measureGrowth = async (
  world: World,
  engines: EngineSet,
  { events, rate, seconds }: { readonly events: number; readonly rate: number; readonly seconds: number },
): Promise<Growth> => {
  const first = await setUp(world.receiverPort, engines);
  const seeding = startChild<SeedOrder, SeedOutcome>("seed");
  let subject = first;
  try {
    await measureArrival(world, first, 20, 1);
    const pattern = await patternOf(first);
    await first.program.stop();
    const seeded = await seeding.ask({ ...pattern, count: events });
    const { dir } = first.program;
    const logBytes = databaseBytes(dir, "log.db");

    const began = performance.now();
    const rebuilding = await restarted(first);
    subject = rebuilding.subject;
    await upToDate(subject);
    const rebuildS = (performance.now() - began) / 1_000;
    const rssAfterRebuildMiB = (await runtimeOf(subject)).rssMiB;
    await subject.program.stop();
    const viewsBytes = databaseBytes(dir, "views.db");

    const again = await restarted(first);
    subject = again.subject;
    await measureLatency(world, subject, rate, 2);
    const admission = await measureLatency(world, subject, rate, seconds);
    await upToDate(subject);
    return {
      events,
      records: seeded.records,
      seededPerS: seeded.perS,
      rebuiltPerS: seeded.records / rebuildS,
      bytesPerEvent: { log: per(logBytes, events), views: per(viewsBytes, events) },
      firstStartS: rebuilding.startMs / 1_000,
      startS: again.startMs / 1_000,
      admission,
      console: await measureConsole(subject, pattern.eventId),
      rssAfterRebuildMiB,
      rssMiB: (await runtimeOf(subject)).rssMiB,
    };
  } finally {
    await seeding.close();
    await close(subject);
  }
};
