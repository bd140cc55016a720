import type { Request } from "../../domain/delivery/events.ts";
import { type Endpoint, endpoint as endpointDecider, type PresentEndpoint } from "../../domain/endpoint/decider.ts";
import type { EndpointEvent } from "../../domain/endpoint/events.ts";
import { sameTarget, type Target, targetOf } from "../../domain/endpoint/target.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { type Foldable, foldStream } from "../streams/run-command.ts";

type Search = { readonly state: Endpoint; readonly last: PresentEndpoint | null };

const endpointWith = async (log: EventLog, target: Target): Promise<PresentEndpoint | null> => {
  const search: Foldable<Search, EndpointEvent> = {
    initial: { state: endpointDecider.initial, last: null },
    evolve({ state: before, last }, event) {
      const state = endpointDecider.evolve(before, event);
      return { state, last: state.phase === "present" && sameTarget(targetOf(state), target) ? state : last };
    },
  };
  const stream = `endpoint-${target.endpoint_id}`;
  return (await foldStream(log, search, stream)).state.last;
};

/** An approved undo goes to the target recorded with the approval, even if the endpoint has moved since. */
export const withApprovedTarget = async (
  log: EventLog,
  { bound, bundle }: Request,
  present: PresentEndpoint,
): Promise<PresentEndpoint> => {
  const approved = bound?.target ?? null;
  if (bundle?.undo !== true || approved === null || sameTarget(targetOf(present), approved)) return present;
  const before = await endpointWith(log, approved);
  if (before === null) return present;
  const { url, headers: old } = before.settings;
  const headers = Object.entries(old).map(([name, header]) => {
    const today = present.settings.headers[name];
    return [name, header.digest === null && today?.digest === null ? today : header];
  });
  return { ...present, settings: { ...present.settings, url, headers: Object.fromEntries(headers) } };
};
