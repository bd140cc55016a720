import { sameJson } from "../same-json.ts";
import type { PresentEndpoint } from "./decider.ts";

/** What an approval is bound to: a request is not sent to an endpoint whose target has changed since. */
export type Target = {
  readonly endpoint_id: string;
  readonly url: string;
  /** Each name has the digest of its value, or null for a secret value. */
  readonly headers: Readonly<Record<string, string | null>>;
};

export const targetOf = ({ endpointId, settings }: Pick<PresentEndpoint, "endpointId" | "settings">): Target => ({
  endpoint_id: endpointId,
  url: settings.url,
  headers: Object.fromEntries(Object.entries(settings.headers).map(([name, { digest }]) => [name, digest])),
});

export const sameTarget = (a: Target, b: Target): boolean => sameJson(a, b);
