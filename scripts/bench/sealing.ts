import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventLog, NewEvent, RecordedEvent } from "../../domain/ports/event-log.ts";
import { base32 } from "../../infra/crypto/ids.ts";
import { isRecord } from "../../projections/audit.ts";
import { openLog } from "../../src/engine/open-engines.ts";
import { until } from "../../test/support/program.ts";
import type { World } from "./bench-world.ts";
import { sleep } from "./clock.ts";
import type { EngineSet } from "./engines.ts";
import { patternOf } from "./growth.ts";
import { profiled, profiledWork, profilesOf } from "./profile.ts";
import type { SeedOrder } from "./seed.ts";
import { Templates } from "./seed-text.ts";
import { shareOf } from "./self-times.ts";
import { startService } from "./service-process.ts";
import { type Spread, spreadOf } from "./spread.ts";
import { close, logOf, type Subject, setUp, upToDate } from "./subject.ts";
import { amount, atMost, figures, microseconds, milliseconds, type Row } from "./table.ts";
import { type Cost, DELIVERED, deliveredAt, RATES } from "./workloads.ts";

type SealingTimes = {
  /** Delivered events a second meanwhile. */
  readonly rate: number;
  /** From a record's append to that of the seal that covers it, by the times which the log has. */
  readonly sealedMs: Spread;
  /** From a record's append until `GET /v1/audit/checkpoint` has answered with a tree that has it. */
  readonly servedMs: Spread;
};

type SealingCost = {
  readonly accounts: number;
  /** Milliseconds of processor time for sealing the records of one delivered event; null if the system does not tell. */
  readonly sealingMs: number | null;
};

export type Sealing = {
  readonly times: SealingTimes;
  /** What a delivered event costs in all at full load, and the share of it in which the evidence is folded and sealed. */
  readonly delivered: Cost;
  readonly deliveredShare: number;
  readonly folded: readonly SealingCost[];
};

export type SealingOrder = { readonly seconds: number; readonly say: (text: string) => void };

const BARS = { sealedP99Ms: 1_100, servedP99Ms: 2_000, sharePercent: 15 } as const;
const ACCOUNTS = [1, 1_000] as const;
const WARM_UP_S = 3;
const LOOK_MS = 20;
const PAGE = 1_000;
const SEALED_LIMIT_MS = 30_000;
/** Appends of the benchmark at once, as many as deliveries at once. */
const AT_ONCE = 32;

/** Files whose functions, and all that they call, run for the evidence alone. */
const EVIDENCE_FILES = /\/(?:src\/(?:evidence|sealing)\/|domain\/evidence\/|infra\/sqlite\/(?:evidence|key-map)-)/;
const isEvidence = (url: string): boolean => EVIDENCE_FILES.test(url);

/** Of the processor time of all profiled threads, the part in which evidence was folded or sealed. */
const sealingNs = (folder: string): { readonly own: number; readonly all: number } => {
  let [own, all] = [0, 0];
  for (const { profile } of profilesOf(folder)) {
    const ns = profile.processorNs ?? 0;
    all += ns;
    own += ns * shareOf(profile, isEvidence);
  }
  return { own, all };
};

async function* recordsIn(log: Pick<EventLog, "readAll">): AsyncGenerator<RecordedEvent, void> {
  for (let after: string | null = null; ; ) {
    const page: readonly RecordedEvent[] = await log.readAll(after, PAGE, "records");
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.position;
  }
}

type Seen = { readonly at: number; readonly size: number };

/** The first of them, by time, whose tree has the record. */
const firstWith = (seen: readonly Seen[], index: number): number => {
  let [low, high] = [0, seen.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((seen[middle]?.size ?? 0) > index) high = middle;
    else low = middle + 1;
  }
  return seen[low]?.at ?? Number.NaN;
};

type Recorded = { readonly at: readonly number[]; readonly seals: readonly Seen[] };

/** When each record of the account was appended, by its index, and when its trees were sealed. */
const recordedOf = async (subject: Subject): Promise<Recorded> => {
  const { account } = subject.client;
  const at: number[] = [];
  const seals: Seen[] = [];
  const log = await openLog(logOf(subject), { readOnly: true });
  try {
    for await (const event of recordsIn(log)) {
      const time = Date.parse(event.meta.recorded_at);
      if (isRecord(event) && event.meta.account === account) at.push(time);
      if (event.type !== "Sealed") continue;
      // As `domain/evidence/instance-events.ts` has it.
      const { heads } = event.data as unknown as { readonly heads: readonly (readonly [string, number, string])[] };
      for (const [of, size] of heads) if (of === account) seals.push({ at: time, size });
    }
  } finally {
    await log.close();
  }
  return { at, seals };
};

/** The size of the newest checkpoint, which stands in its second line; 0 if nothing is sealed. */
const sealedSize = async ({ client }: Subject): Promise<number> => {
  const { status, body } = await client.call("GET", "/v1/audit/checkpoint");
  return status === 200 ? Number(String(body).split("\n")[1]) : 0;
};

const measureTimes = async (world: World, subject: Subject, rate: number, seconds: number): Promise<SealingTimes> => {
  const served: Seen[] = [];
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      const size = await sealedSize(subject);
      if (size > (served.at(-1)?.size ?? 0)) served.push({ at: Date.now(), size });
      await sleep(LOOK_MS);
    }
  })();
  const begun = Date.now();
  await deliveredAt(rate).measure(world, subject, seconds);
  const ended = Date.now();
  const isSealed = async (): Promise<boolean> => {
    const { at } = await recordedOf(subject);
    const during = at.findLastIndex((time) => time <= ended);
    return (served.at(-1)?.size ?? 0) > during;
  };
  await until("all records are sealed", isSealed, SEALED_LIMIT_MS);
  isOver = true;
  await looking;
  const { at, seals } = await recordedOf(subject);
  const during = at.flatMap((time, index) => (time >= begun && time <= ended ? [index] : []));
  const after = (seen: readonly Seen[]): Spread =>
    spreadOf(during.map((index) => firstWith(seen, index) - (at[index] ?? Number.NaN)));
  return { rate, sealedMs: after(seals), servedMs: after(served) };
};

/** The facts of a delivered event for another account; the n-th has ids of its own. */
const copiesOf = (pattern: Omit<SeedOrder, "count">, original: string, accounts: number) => {
  const templates = new Templates(pattern);
  const delivery = pattern.streams.find(({ category }) => category === "delivery")?.events ?? [];
  const events = delivery.map(({ type, data, meta }) => ({
    type,
    data: templates.add(data),
    meta: templates.add(meta),
  }));
  const ids = Array.from({ length: accounts }, () => `acc_${base32(randomBytes(20))}`);
  return (n: number): { readonly stream: string; readonly events: readonly NewEvent[] } => {
    const id = `evt_${base32(randomBytes(20))}`;
    const now = templates.times.map(() => new Date().toISOString());
    const account = ids[n % accounts] ?? original;
    const textOf = (template: (typeof events)[number]["data"]): string =>
      template(id, `copy-${n}`, now).replaceAll(original, account);
    // The texts are copies of records of this log, so they have the shape of its events.
    const copied = events.map(
      ({ type, data, meta }) =>
        ({ id: randomUUID(), type, data: JSON.parse(textOf(data)), meta: JSON.parse(textOf(meta)) }) as NewEvent,
    );
    return { stream: `delivery-${id}`, events: copied };
  };
};

type FoldOrder = {
  readonly pattern: Omit<SeedOrder, "count">;
  readonly accounts: number;
  readonly rate: number;
  readonly seconds: number;
};

/** Appends delivered events at this rate, in groups as senders make them. Resolves with their number. */
const appended = async (log: EventLog, order: FoldOrder, account: string): Promise<number> => {
  const copy = copiesOf(order.pattern, account, order.accounts);
  const begun = performance.now();
  const total = Math.round(order.rate * order.seconds);
  for (let n = 0; n < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - begun) / 1_000) * order.rate));
    const some = Array.from({ length: Math.min(AT_ONCE, due - n) }, (_, i) => copy(n + i));
    await Promise.all(some.map(({ stream, events }) => log.append(stream, "absent", events)));
    n += some.length;
    if (some.length === 0) await sleep(1);
  }
  return total;
};

/** A process with the role "projector" alone folds what this benchmark appends for so many accounts. */
const measureFold = async (stopped: Subject, set: EngineSet, order: FoldOrder): Promise<SealingCost> => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-sealing-"));
  const engines = await profiled({ ...set, open: async () => stopped.engines }, folder).open();
  const env = { ...engines.env, ROLES: "projector,api" };
  const program = await startService({ ...engines, env, dir: stopped.program.dir });
  const log = await openLog(logOf(stopped));
  try {
    await upToDate({ program });
    const { account } = stopped.client;
    await appended(log, { ...order, seconds: WARM_UP_S }, account);
    const events = await profiledWork(program.pid, folder, async () => {
      const done = await appended(log, order, account);
      await upToDate({ program });
      return done;
    });
    const { own, all } = sealingNs(folder);
    return { accounts: order.accounts, sealingMs: all === 0 ? null : own / 1e6 / events };
  } finally {
    await log.close();
    await program.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

export const measureSealing = async (world: World, set: EngineSet, order: SealingOrder): Promise<Sealing> => {
  const { seconds, say } = order;
  const folder = mkdtempSync(join(tmpdir(), "countersign-sealing-"));
  const subject = await setUp(world.receiverPort, profiled(set, folder));
  try {
    say("warming up");
    await DELIVERED.measure(world, subject, WARM_UP_S);
    const { perS } = await DELIVERED.measure(world, subject, WARM_UP_S);
    say("sealed at half load");
    const times = await measureTimes(world, subject, perS / 2, seconds);
    say("a delivered event at full load");
    const delivered = await profiledWork(subject.program.pid, folder, () => DELIVERED.measure(world, subject, seconds));
    const { own, all } = sealingNs(folder);
    const pattern = await patternOf(subject);
    await subject.program.stop();
    const folded: SealingCost[] = [];
    for (const accounts of ACCOUNTS) {
      say(`sealing the records of ${accounts} accounts`);
      folded.push(await measureFold(subject, set, { pattern, accounts, rate: RATES.usual, seconds }));
    }
    return { times, delivered, deliveredShare: all === 0 ? Number.NaN : own / all, folded };
  } finally {
    await close(subject);
    rmSync(folder, { recursive: true, force: true });
  }
};

export const sealingTable = ({ times, delivered, deliveredShare, folded }: Sealing): string => {
  const { rate, sealedMs, servedMs } = times;
  const costs = folded.map(({ accounts, sealingMs }): Row => {
    const name = `   sealing at ${RATES.usual}/s, ${accounts} busy account${accounts === 1 ? "" : "s"}`;
    if (sealingMs === null || delivered.processorMs === null) return { name, value: "unknown" };
    const percent = (sealingMs / delivered.processorMs) * 100;
    return { name, value: `${microseconds(sealingMs)} an event, ${amount(percent)} % of a delivered one` };
  });
  const time = delivered.processorMs === null ? "unknown" : microseconds(delivered.processorMs);
  return figures([
    { name: `at ${amount(rate)}/s: appended to sealed`, value: milliseconds(sealedMs) },
    atMost("   p99", sealedMs.p99, BARS.sealedP99Ms, "ms"),
    { name: "   appended to served as sealed", value: milliseconds(servedMs) },
    atMost("   p99", servedMs.p99, BARS.servedP99Ms, "ms"),
    { name: "a delivered event at full load, profiled", value: time },
    ...(Number.isNaN(deliveredShare)
      ? []
      : [atMost("   sealing's share, one busy account", deliveredShare * 100, BARS.sharePercent, "%")]),
    ...costs,
  ]);
};
