import { join } from "node:path";
import { delivery } from "../../domain/delivery/decider.ts";
import { endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import type { EndpointSettings } from "../../domain/endpoint/events.ts";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { HttpSender } from "../../domain/ports/sender.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { sqliteViewStore } from "../../infra/sqlite/view-store.ts";
import { deliveryQueue } from "../../projections/delivery-queue.ts";
import { Deliverer } from "../../src/delivery/deliverer.ts";
import { aggregates } from "../../src/streams/aggregates.ts";
import { type Envelope, type Fact, toEvents } from "../../src/streams/envelope.ts";
import { foldPage, namingRecords } from "../../src/views/fold-page.ts";
import { appendingLog } from "./appending-log.ts";
import { enoughBytes } from "./enough-bytes.ts";
import { request, START } from "./history.ts";
import { removeFolder, temporaryFolder } from "./program.ts";
import { seededRandom } from "./seeded-random.ts";
import { virtualTime } from "./virtual-time.ts";

/** What a receiver does with a request: the status of its answer, and after how many ms; null: it never answers;
 * "unresolved": our resolver cannot tell where it is. */
export type Answers = (
  eventId: string,
  nowMs: number,
) => { readonly status: number; readonly ms: number; readonly retryAfterMs?: number } | "unresolved" | null;

type Sent = {
  readonly endpointId: string;
  readonly eventId: string;
  readonly at: number;
  readonly status: number | null;
};

/** How long the view is behind the log. */
const FOLD_MS = 40;
const FOLD_PAGE = 2_000;
const ACCOUNT = "acc_1";
const TRACE = { trace_id: "1".repeat(32), span_id: "2".repeat(16) };

const SETTINGS: EndpointSettings = {
  name: "app",
  url: "https://app.example/hook",
  timeout_ms: 15_000,
  retry_schedule_s: [5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 36_000, 86_400],
  concurrency: 16,
  rate_per_second: null,
  headers: {},
  notifications: [],
  policy_id: null,
};

export type Troubles = {
  /** How long the log takes to write a record of a type down. */
  readonly appendMs?: (type: string) => number;
  /** Throws where the headers for an event cannot be made. */
  readonly seal?: (eventId: string) => void;
};

/** The deliverer over a log in memory and a view on disk, in virtual time, with receivers that are functions. */
export const deliverySimulation = async (receivers: Readonly<Record<string, Answers>>, troubles: Troubles = {}) => {
  const time = virtualTime(START);
  const { clock } = time;
  const log = memoryEventLog();
  const random = seededRandom(1);
  const randomness = {
    number: random.next,
    bytes: (size: number) => Uint8Array.from({ length: size }, () => random.below(256)),
  };
  const folder = temporaryFolder();
  const views = sqliteViewStore({ path: join(folder, "views.db"), schemas: [deliveryQueue.schema] });
  const errors: unknown[] = [];
  const sent: Sent[] = [];
  let commands = 0;

  const envelope = (): Envelope => {
    commands += 1;
    const at = new Date(clock.now()).toISOString();
    return { commandId: `cmd_${commands}`, account: ACCOUNT, actor: { kind: "system", id: "test" }, trace: TRACE, at };
  };
  const append = (stream: string, fact: Fact) => log.append(stream, "any", toEvents([fact], envelope()));

  const facts = new Map<string, RecordedEvent[]>();
  let folded: Position | null = null;
  const fold = async (): Promise<void> => {
    const page = await log.readAll(folded, FOLD_PAGE);
    const upTo = page.at(-1)?.position;
    if (upTo === undefined) return;
    for (const event of page) {
      const ofType = facts.get(event.type) ?? [];
      facts.set(event.type, ofType);
      ofType.push(event);
    }
    const naming = namingRecords(deliveryQueue, page);
    const ids = new Set(naming.flatMap((it) => it.ids));
    const loaded = await views.load(deliveryQueue.schema.name, folded, [...ids]);
    if (loaded === "stale") throw new Error("nobody else folds");
    const { documents } = foldPage(deliveryQueue, naming, loaded);
    await views.commit(deliveryQueue.schema.name, folded, upTo, { documents });
    folded = upTo;
    if (page.length === FOLD_PAGE) await fold();
  };
  let isFolding = false;
  log.onAppended(() => {
    if (isFolding) return;
    isFolding = true;
    time.timers.after(FOLD_MS, () => {
      isFolding = false;
      fold().catch((error) => errors.push(error));
    });
  });

  const deliverersLog = (of: EventLog): EventLog =>
    appendingLog(of, async (stream, expected, events) => {
      // What a payload stream would hold is of no interest here, and half of all that is written.
      if (stream.startsWith("payload-")) return { outcome: "appended", revision: 0, position: "0" };
      const appended = await of.append(stream, expected, events);
      const ms = troubles.appendMs?.(events[0]?.type ?? "") ?? 0;
      if (ms > 0) await time.sleep(ms);
      return appended;
    });

  const timings = { dns: 0, connect: 0, tls: 0, first_byte: 1, total: 1 };
  const sender: HttpSender = {
    async send({ url, headers, timeoutMs }) {
      const [endpointId, eventId] = [new URL(url).hostname, String(headers["webhook-id"])];
      const answer = receivers[endpointId]?.(eventId, clock.now()) ?? null;
      if (answer === "unresolved") {
        return { outcome: "failed", kind: "dns", detail: "no answer from the DNS", resolverFailed: true, timings };
      }
      sent.push({ endpointId, eventId, at: clock.now(), status: answer?.status ?? null });
      await time.sleep(answer?.ms ?? timeoutMs);
      if (answer === null) return { outcome: "failed", kind: "timeout", detail: "no answer", timings };
      const body = Buffer.from("");
      const { status: statusCode, retryAfterMs = null } = answer;
      return { outcome: "answered", statusCode, headers: {}, body, truncated: false, retryAfterMs, timings };
    },
    close: async () => undefined,
  };

  /** `seen`: the log as the node has it. `isAlone`: no other node may hold a lease. */
  const node = (name: string, seen: (log: EventLog) => EventLog = (it) => it, isAlone = true): Deliverer =>
    new Deliverer({
      allowances: enoughBytes,
      log: deliverersLog(seen(log)),
      views,
      clock,
      timers: time.timers,
      randomness,
      sender,
      aggregates: aggregates(log, clock),
      payloads: {
        read: async () => ({
          salt: Buffer.alloc(16),
          content_type: "application/json",
          headers: {},
          body: Buffer.from("{}"),
        }),
        keepFirst: async () => null,
        draftFirst: () => null,
        keepAgain: () => Promise.reject(new Error("nothing is kept here")),
      },
      outbound: {
        headers({ job }) {
          troubles.seal?.(job.eventId);
          return { "webhook-id": job.eventId };
        },
        shown: (headers) => headers,
      },
      node: name,
      othersAreGone: isAlone,
      onError: (error) => errors.push(error),
    });

  const endpointStream = (id: string): string => `endpoint-${id}`;

  return {
    time,
    clock,
    log,
    sent,
    errors,
    node,
    append,
    endpoint: (id: string, settings: Partial<EndpointSettings> = {}) =>
      append(endpointStream(id), {
        type: "EndpointRegistered",
        data: {
          ...SETTINGS,
          url: `https://${id}/hook`,
          ...settings,
          endpoint_id: id,
          account: ACCOUNT,
          secret: "sealed",
          at: new Date(clock.now()).toISOString(),
        },
      }),
    /** As the admission does: first the log, then the deliverer. */
    async admit(eventId: string, endpointId: string, to: Deliverer): Promise<void> {
      const data = request({ event_id: eventId, endpoint_id: endpointId, at: new Date(clock.now()).toISOString() });
      const fact = { type: "EventAdmitted", data } as const;
      await append(`delivery-${eventId}`, fact);
      const known = { state: delivery.evolve(delivery.initial, fact), revision: 0 };
      to.offer({ kind: "due", eventId, account: ACCOUNT, endpointId, trace: TRACE, known, body: Buffer.from("{}") });
    },
    /** Drops the view; after so many ms it is folded again from the beginning. */
    async rebuild(afterMs: number): Promise<void> {
      isFolding = true;
      await views.drop(deliveryQueue.schema.name, await log.identity());
      folded = null;
      time.timers.after(afterMs, () => {
        isFolding = false;
        fold().catch((error) => errors.push(error));
      });
    },
    /** As somebody does who has one event, or with it many others, sent again. */
    async replay(eventId: string, endpointId: string, to: Deliverer, isAlone: boolean): Promise<void> {
      const about = { event_id: eventId, endpoint_id: endpointId, replay_id: `rpl_${eventId}`, reason: null };
      const now = new Date(clock.now()).toISOString();
      const data = { ...about, by: { kind: "member", id: "mem_1" }, attempts: 1, admitted_at: now, at: now } as const;
      await append(`delivery-${eventId}`, { type: "EventReplayed", data });
      to.offer({ kind: isAlone ? "replay" : "due", eventId, account: ACCOUNT, endpointId });
    },
    /** The records of a type, of all streams, as far as they are folded. */
    all: (type: string): readonly RecordedEvent[] => facts.get(type) ?? [],
    async state(id: string) {
      const page = await log.read(endpointStream(id), null, 10_000);
      // An endpoint's stream has its events alone.
      return page.reduce((state, event) => endpointDecider.evolve(state, event as never), endpointDecider.initial);
    },
    close: async () => {
      await views.close();
      removeFolder(folder);
    },
  };
};

/** Events to one receiver at a steady rate. */
export const steady = (
  it: Awaited<ReturnType<typeof deliverySimulation>>,
  node: Deliverer,
  endpointId: string,
  gapMs: number,
) => {
  const admitted: string[] = [];
  let untilMs = Number.POSITIVE_INFINITY;
  const next = (): void => {
    if (it.clock.now() >= untilMs) return;
    const eventId = `evt_${endpointId}_${admitted.length}`;
    admitted.push(eventId);
    it.admit(eventId, endpointId, node).catch((error) => it.errors.push(error));
    it.time.timers.after(gapMs, next);
  };
  next();
  const stopAt = (ms: number): void => {
    untilMs = ms;
  };
  return { admitted, stopAt };
};
