import { sameJson } from "../same-json.ts";
import type { PresentEndpoint } from "./decider.ts";

/** The address and the added headers of an endpoint, in the form that an approval is bound to. */
export type Target = {
  readonly endpoint_id: string;
  readonly url: string;
  /** By name: the digest of the value, null for a secret one (`OwnHeader`). */
  readonly headers: Readonly<Record<string, string | null>>;
};

export const targetOf = ({ endpointId, settings }: Pick<PresentEndpoint, "endpointId" | "settings">): Target => ({
  endpoint_id: endpointId,
  url: settings.url,
  headers: Object.fromEntries(Object.entries(settings.headers).map(([name, { digest }]) => [name, digest])),
});

export const sameTarget = (a: Target, b: Target): boolean => sameJson(a, b);
