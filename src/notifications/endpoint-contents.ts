import { delivery } from "../../domain/delivery/decider.ts";
import { isAdmitted } from "../../domain/delivery/state.ts";
import { endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import type { EndpointEvent } from "../../domain/endpoint/events.ts";
import { dataOf } from "../../domain/events.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { ContentOf } from "./notification.ts";

/** The endpoint's name; null once the endpoint is deleted. */
const nameOf = async (aggregates: Pick<Aggregates, "load">, endpointId: string): Promise<string | null> => {
  const { state } = await aggregates.load(endpointDecider, `endpoint-${endpointId}`);
  return state.phase === "present" ? state.settings.name : null;
};

type State = "degraded" | "opened" | "recovered" | "warned" | "disabled";

const changed =
  (type: EndpointEvent["type"] & `Endpoint${Capitalize<State>}`, state: State): ContentOf =>
  async (record, aggregates) => {
    const { at, endpoint_id, ...rest } = dataOf(type, record);
    return {
      type: `endpoint.${state}`,
      // The subject contains the record's revision, because the same can happen to an endpoint repeatedly.
      subject: `${endpoint_id}/${record.revision}`,
      about: endpoint_id,
      data: { endpoint_id, name: await nameOf(aggregates, endpoint_id), ...rest, [`${state}_at`]: at },
    };
  };

/** Null if the delivery was itself a notification, since each failure would cause the next notification. */
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

export const ENDPOINT_CONTENTS: ReadonlyMap<string, ContentOf> = new Map<string, ContentOf>([
  ["EndpointDegraded", changed("EndpointDegraded", "degraded")],
  ["EndpointOpened", changed("EndpointOpened", "opened")],
  ["EndpointRecovered", changed("EndpointRecovered", "recovered")],
  ["EndpointWarned", changed("EndpointWarned", "warned")],
  ["EndpointDisabled", changed("EndpointDisabled", "disabled")],
  ["DeliveryFailed", failed],
]);
