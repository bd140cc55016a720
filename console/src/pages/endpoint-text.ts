import { countdown, counted } from "../../design/format.ts";
import { hrefOf } from "../shell/addresses.ts";
import { WITH_NOTIFICATIONS } from "./event-origins.ts";
import { type Message, message, type Part } from "./message.ts";

type Health = {
  readonly state?: string | undefined;
  readonly queued?: number | undefined;
  readonly consecutive_failures?: number | undefined;
  readonly since?: string | null | undefined;
  readonly next_probe_at?: string | null | undefined;
};

/** An endpoint to which nothing is sent at present, so that events wait for it. */
export type Stopped = { readonly id: string; readonly name: string; readonly health: Health };

export const isStopped = ({ health }: { readonly health: Health }): boolean =>
  health.state === "open" || health.state === "disabled";

/** The states of an event that is still to be sent, and is not being sent just now. */
export const isWaiting = (status: string | undefined): boolean => status === "queued" || status === "retrying";

/** "It waits for erp-bridge, whose circuit is open." */
export const waitText = ({ name, health }: Stopped): string =>
  `It waits for ${name}, ${health.state === "open" ? "whose circuit is open" : "which is disabled"}`;

/** When an open circuit is tried next. A time that has passed is not told, and without a waiting event nothing is tried. */
export const probeText = ({ state, queued = 0, next_probe_at: at }: Health, now: number): string => {
  if (state !== "open") return "–";
  if (queued === 0) return "No probe needed until an event arrives";
  const left = at === null || at === undefined ? 0 : Date.parse(at) - now;
  return left > 0 ? `in ${countdown(left)}` : "now";
};

/** For what waits: for which endpoint, since when it is stopped, and what ends the wait. */
export const waitParts = (stopped: Stopped, now: number): readonly Part[] => {
  const { name, health } = stopped;
  const { state, since, queued = 0 } = health;
  const what = state === "open" ? "whose circuit has been open since " : "which has been disabled since ";
  const first: readonly Part[] = since == null ? [waitText(stopped)] : [`It waits for ${name}, ${what}`, { at: since }];
  if (state !== "open") return [...first, ". It is sent once the endpoint is enabled."];
  // At least this one waits, however late the count is.
  const probe = probeText({ ...health, queued: Math.max(1, queued) }, now);
  return [...first, `. The next probe is ${probe}, and the first success resumes delivery.`];
};

/** The list of what waits for an endpoint, the service's own notifications among it. */
export const waitingHref = (id: string): string =>
  hrefOf("/events", { endpoint_id: id, status: "queued,delivering,retrying", origin: WITH_NOTIFICATIONS });

/** How many wait for a stopped endpoint, and since when it is stopped; null for one to which events are sent. */
export const waitingMessage = ({ id, health }: Pick<Stopped, "id" | "health">): Message | null => {
  if (!isStopped({ health })) return null;
  const { queued = 0, since, state } = health;
  const waits: Part =
    queued === 0
      ? "No event waits"
      : { link: `${counted(queued, "event")} ${queued === 1 ? "waits" : "wait"}`, href: waitingHref(id) };
  const what = state === "open" ? "The circuit has been open" : "The endpoint has been disabled";
  return message([waits, "."], ...(since == null ? [] : [`${what} since `, { at: since }, "."]));
};

/** What an endpoint's state means for those who wait; null if nothing has to be said. */
export const stateText = (health: Health, now: number): string | null => {
  const { state, queued = 0, consecutive_failures: failures = 0 } = health;
  if (state === "degraded") return "Some deliveries fail. Events are sent as before.";
  if (state === "disabled") return "Events wait until the endpoint is enabled.";
  if (state !== "open") return null;
  const row = failures === 0 ? "" : `${failures} ${failures === 1 ? "failure" : "failures in a row"}. `;
  const probe =
    queued === 0 ? "no probe is needed until an event arrives" : `the next probe is ${probeText(health, now)}`;
  return `${row}New events wait and are kept; ${probe}, and the first success resumes delivery.`;
};

/** What a new secret means for the receiver, which has it to put in before `until`. */
export const rotationText = (until: string): string =>
  `The old one works for 24 h more. Put the new one into your receiver before ${until}.`;
