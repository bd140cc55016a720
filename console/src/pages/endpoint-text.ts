import { countdown } from "../../design/format.ts";

type Health = {
  readonly state?: string | undefined;
  readonly queued?: number | undefined;
  readonly consecutive_failures?: number | undefined;
  readonly next_probe_at?: string | null | undefined;
};

/** When an open circuit is tried next. A time that has passed is not told, and without a waiting event nothing is tried. */
export const probeText = ({ state, queued = 0, next_probe_at: at }: Health, now: number): string => {
  if (state !== "open") return "–";
  if (queued === 0) return "No probe needed until an event arrives";
  const left = at === null || at === undefined ? 0 : Date.parse(at) - now;
  return left > 0 ? `in ${countdown(left)}` : "now";
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
