import { PLANS } from "../../../domain/account/plans.ts";
import { source as sourceDecider } from "../../../domain/source/decider.ts";
import { sources } from "../../../projections/sources.ts";
import { type Problem, problem } from "../../streams/problems.ts";
import type { EndpointsDeps } from "./endpoint-commands.ts";

const SOURCES_MAX = PLANS.scale.endpoints;
/** So many sources are named in the problem's text; its member `sources` lists all. */
const NAMED_MAX = 5;

/**
 * The account's sources that send to the endpoint. The view may lack a source just made; that is tolerable, as a
 * deletion is only refused to prevent a slip, and events for a deleted endpoint end as failed with `endpoint-deleted`.
 */
export const sourcesOf = async (
  { aggregates, views }: Pick<EndpointsDeps, "aggregates" | "views">,
  account: string,
  endpointId: string,
) => {
  const listed = await views.page(sources.schema.name, {
    where: [{ field: "account", is: "=", value: account }],
    sort: { field: "created_at", order: "asc" },
    limit: SOURCES_MAX,
  });
  const using: { id: string; name: string }[] = [];
  for (const { id, document } of listed) {
    if (document.endpoint_id !== endpointId) continue;
    // The view may lag behind a change or a deletion of the source, so its stream is asked.
    const { state } = await aggregates.load(sourceDecider, `source-${id}`);
    if (state.phase === "present" && state.settings.endpoint_id === endpointId) {
      using.push({ id, name: state.settings.name });
    }
  }
  return using;
};

export const inUse = (using: readonly { readonly id: string; readonly name: string }[]): Problem => {
  const named = using.slice(0, NAMED_MAX).map(({ id, name }) => `${name} (${id})`);
  const more = using.length > NAMED_MAX ? ` and ${using.length - NAMED_MAX} more` : "";
  const detail = `These sources send to it: ${named.join(", ")}${more}. Change their endpoint or delete them first.`;
  return problem("endpoint-in-use", detail, { extra: { sources: using.map((source) => ({ ...source })) } });
};
