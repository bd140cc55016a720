import { delivery } from "../../domain/delivery/decider.ts";
import type { DeliveryEvent } from "../../domain/delivery/events.ts";
import { isAdmitted } from "../../domain/delivery/state.ts";
import { endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import type { EndpointEvent } from "../../domain/endpoint/events.ts";
import { dataOf } from "../../domain/events.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { NotificationName } from "./names.ts";
import type { Content, ContentOf } from "./notification.ts";

type Fact = EndpointEvent | DeliveryEvent;
/** Null once the endpoint is deleted. */
const nameOf = async (aggregates: Pick<Aggregates, "load">, endpointId: string): Promise<string | null> => {
  const { state } = await aggregates.load(endpointDecider, `endpoint-${endpointId}`);
  return state.phase === "present" ? state.settings.name : null;
};

/** The revision is included, as the same can happen to an endpoint repeatedly. */
const endpointContent = async (
  type: NotificationName,
  record: RecordedEvent,
  { endpoint_id, ...rest }: { readonly endpoint_id: string } & Content["data"],
  aggregates: Pick<Aggregates, "load">,
): Promise<Content> => ({
  type,
  subject: `${endpoint_id}/${record.revision}`,
  about: endpoint_id,
  data: { endpoint_id, name: await nameOf(aggregates, endpoint_id), ...rest },
});

const degraded: ContentOf = (record, aggregates) => {
  const { at: degraded_at, ...data } = dataOf("EndpointDegraded", record);
  return endpointContent("endpoint.degraded", record, { ...data, degraded_at }, aggregates);
};

const opened: ContentOf = (record, aggregates) => {
  const { at: opened_at, ...data } = dataOf("EndpointOpened", record);
  return endpointContent("endpoint.opened", record, { ...data, opened_at }, aggregates);
};

const recovered: ContentOf = (record, aggregates) => {
  const { at: recovered_at, ...data } = dataOf("EndpointRecovered", record);
  return endpointContent("endpoint.recovered", record, { ...data, recovered_at }, aggregates);
};

const warned: ContentOf = (record, aggregates) => {
  const { at: warned_at, ...data } = dataOf("EndpointWarned", record);
  return endpointContent("endpoint.warned", record, { ...data, warned_at }, aggregates);
};

const disabled: ContentOf = (record, aggregates) => {
  const { at: disabled_at, ...data } = dataOf("EndpointDisabled", record);
  return endpointContent("endpoint.disabled", record, { ...data, disabled_at }, aggregates);
};

/** Skips notifications: the failure of one would cause the next. */
const failed: ContentOf = async (record, aggregates) => {
  const { event_id, endpoint_id, failure, at: failed_at } = dataOf("DeliveryFailed", record);
  const { state } = await aggregates.load(delivery, record.stream, 0);
  if (!isAdmitted(state) || state.phase === "recorded" || state.request.origin.kind === "system") return null;
  const { origin, type: event_type } = state.request;
  const from = { kind: origin.kind, id: origin.id, name: origin.name };
  const { kind, detail } = failure;
  const about = { endpoint_id: endpoint_id === "" ? null : endpoint_id, attempts: state.attempts };
  const data = { event_id, event_type, origin: from, ...about, failure: { kind, detail }, failed_at };
  return { type: "delivery.failed", subject: `${event_id}/${record.revision}`, about: endpoint_id, data };
};

export const ENDPOINT_CONTENTS: ReadonlyMap<Fact["type"], ContentOf> = new Map<Fact["type"], ContentOf>([
  ["EndpointDegraded", degraded],
  ["EndpointOpened", opened],
  ["EndpointRecovered", recovered],
  ["EndpointWarned", warned],
  ["EndpointDisabled", disabled],
  ["DeliveryFailed", failed],
]);
