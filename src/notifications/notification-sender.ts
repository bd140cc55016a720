import { delivery } from "../../domain/delivery/decider.ts";
import type { Request } from "../../domain/delivery/events.ts";
import { isClaimed } from "../../domain/delivery/state.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import type { Deliverer } from "../delivery/deliverer.ts";
import { eraseLeft } from "../erasure/erasures.ts";
import { type Envelope, systemEnvelope, traceOfRecord } from "../streams/envelope.ts";
import { eventIdOf } from "../streams/event-id.ts";
import { type KeptPayload, payloadRef } from "../streams/payload-ref.ts";
import type { Payloads } from "../streams/payloads.ts";
import { foldStream, runCommand } from "../streams/run-command.ts";
import type { Notification } from "./notification.ts";

export type NotificationSenderDeps = {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly payloads: Pick<Payloads, "keepFirst" | "keepAgain">;
  readonly deliver: Pick<Deliverer, "offer">;
};

const CONTENT_TYPE = "application/json";

/**
 * Admits a notification for one endpoint without gates, as no caller has requested it. Its event's id is derived from
 * its content and the endpoint, so that it is made only once.
 */
export const notificationSender =
  ({ log, clock, randomness, payloads, deliver }: NotificationSenderDeps) =>
  async ({ type, subject, timestamp, data }: Notification, cause: RecordedEvent, endpointId: string): Promise<void> => {
    const { account } = cause.meta;
    const deliveryKey = `${subject}/${endpointId}`;
    const eventId = eventIdOf(account, type, deliveryKey);
    const stream = `delivery-${eventId}`;
    const known = await foldStream(log, delivery, stream);
    if (isClaimed(known.state)) return;

    const trace = traceOfRecord(cause);
    const at = new Date(clock.now()).toISOString();
    const envelope: Envelope = systemEnvelope({
      actor: "notifications",
      // The id is random, because the records contain a salt and a time: a second try is another append.
      commandId: randomId("ntf_", randomness),
      account,
      trace,
      at,
      causationId: cause.id,
    });
    // The members are in the order of the examples in Standard Webhooks.
    const body = Buffer.from(JSON.stringify({ type, timestamp, data }));
    const incoming = { body, contentType: CONTENT_TYPE, contentEncoding: "", headers: {} };
    const keeping: Envelope = { ...envelope, commandId: `${envelope.commandId}/payload` };
    const kept: KeptPayload =
      (await payloads.keepFirst(eventId, incoming, keeping)) ?? (await payloads.keepAgain(eventId, incoming, keeping));
    const request: Request = {
      event_id: eventId,
      origin: { kind: "system", id: type, name: type, type: "notification" },
      delivery_key: deliveryKey,
      type,
      payload: payloadRef(kept, incoming),
      endpoint_id: endpointId,
      verdict: { decision: "allow", policy: null, gates: [] },
      cost: null,
      received_at: at,
      authenticated_at: at,
      at,
    };
    const ran = await runCommand(log, {
      decider: delivery,
      stream,
      from: known,
      command: { type: "Admit", request },
      envelope,
    });
    if (ran.outcome === "rejected") {
      // Another node delivers the notification; this node may have stored the payload after that node's was erased.
      await eraseLeft(log, eventId);
      return;
    }
    deliver.offer({
      kind: "due",
      eventId,
      account,
      endpointId,
      trace,
      known: ran.known,
      body,
      contentType: CONTENT_TYPE,
    });
  };
