import type { DeliveryEvent } from "../../domain/delivery/events.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../infra/memory/view-store.ts";
import { endpoints } from "../../projections/endpoints.ts";
import type { Job } from "../../src/delivery/job.ts";
import type { NotYet } from "../../src/following/reaction.ts";
import { notificationReactions } from "../../src/notifications/reactions.ts";
import { aggregates } from "../../src/streams/aggregates.ts";
import { payloads } from "../../src/streams/payloads.ts";
import { foldInto } from "./fold-into.ts";
import { approvalFacts, at, endpointRegistered, type Fact, START } from "./history.ts";

const PAGE = 500;

/** A notification as its endpoint will get it. */
export type Told = { readonly eventId: string; readonly endpointId: string; readonly body: JsonObject };

/** Notifications over a log in memory: the view is folded by hand, and reactions run when they are told to. */
export const notificationsWorld = () => {
  const log = memoryEventLog();
  const views = memoryViewStore([endpoints.schema]);
  const time = { ms: START };
  const clock = { now: () => time.ms };
  const view = { isBehind: false };
  let written = 0;

  const add = async (stream: string, fact: Fact | { type: string; data: object }, account = "acc_1"): Promise<void> => {
    written += 1;
    const meta = {
      account,
      actor: { kind: "system", id: "test" },
      command_id: `cmd_${written}`,
      trace_id: "0af7651916cd43dd8448eb211c80319c",
      span_id: "b7ad6b7169203331",
      causation_id: null,
      recorded_at: at(written),
      schema: 1,
    } as const;
    const id = `00000000-0000-8000-a000-${String(written).padStart(12, "0")}`;
    // Every event type is plain JSON.
    await log.append(stream, "any", [{ id, type: fact.type, data: fact.data as JsonObject, meta }]);
  };

  /** What it keeps in memory is its own, the log is not; `over` is the log as it sees it. */
  const node = (over: EventLog = log) => {
    const offered: Job[] = [];
    const reactions = notificationReactions({
      log: over,
      aggregates: aggregates(over, clock),
      views,
      progress: { waitFor: async () => !view.isBehind },
      payloads: payloads(over, randomness),
      deliver: { offer: (job) => void offered.push(job) },
      clock,
      randomness,
    });
    return {
      offered,
      /** With the whole log from its beginning, as behind a checkpoint that a crash has lost; up to the first record that waits. */
      async react(): Promise<NotYet | undefined> {
        for (const record of await log.readAll(null, PAGE, "records")) {
          for (const reaction of reactions) {
            const reacted = reaction.on === record.type ? await reaction.run(record) : undefined;
            if (reacted !== undefined) return reacted;
          }
        }
        return undefined;
      },
    };
  };
  const here = node();

  return {
    ...here,
    log,
    view,
    add,
    another: node,
    /** The reactions see those that were folded. */
    project: () => foldInto(log, views, [endpoints]),
    async endpoint(id: string, notifications: readonly string[], account = "acc_1"): Promise<void> {
      const { type, data } = endpointRegistered(id);
      await add(`endpoint-${id}`, { type, data: { ...data, account, notifications } }, account);
      await foldInto(log, views, [endpoints]);
    },
    approval: async (id: string, ...ends: readonly ("granted" | "rejected" | "expired" | "cancelled")[]) => {
      const is = approvalFacts(id);
      await add(`approval-${id}`, is.requested());
      for (const end of ends) await add(`approval-${id}`, is[end](60));
    },
    /** Of all events that were admitted, what their endpoints will get. */
    async told(): Promise<readonly Told[]> {
      const told: Told[] = [];
      for (const record of await log.readAll(null, PAGE, "records")) {
        // A delivery's stream holds delivery events alone.
        const event = record as unknown as DeliveryEvent;
        if (event.type !== "EventAdmitted" || event.data.origin.kind !== "system") continue;
        if (event.data.origin.id !== event.data.type) continue;
        const { event_id: eventId, endpoint_id, payload } = event.data;
        const kept = await payloads(log, randomness).read(eventId, payload);
        if (kept === "damaged") throw new Error(`the payload of ${eventId} is damaged`);
        told.push({ eventId, endpointId: String(endpoint_id), body: JSON.parse(String(kept?.body)) });
      }
      return told;
    },
  };
};
