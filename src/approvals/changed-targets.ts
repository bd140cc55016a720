import type { ActionEvent } from "../../domain/action/events.ts";
import type { EndpointEvent } from "../../domain/endpoint/events.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Condition } from "../../domain/ports/view-store.ts";
import { bundles } from "../../projections/bundles.ts";
import { events } from "../../projections/events.ts";
import type { Reaction } from "../following/reaction.ts";
import { type ForEachListedDeps, forEachListed } from "../views/for-each-listed.ts";
import type { ApprovalRenewal } from "./approval-renewal.ts";

export type ChangedTargetsDeps = ForEachListedDeps & { readonly renewal: ApprovalRenewal };

const equal = (field: string, value: string): Condition => ({ field, is: "=", value });

const heldOf = ({ meta }: RecordedEvent): readonly Condition[] => [
  equal("account", meta.account),
  equal("status", "held"),
];

/** Conditions for requests that the change may affect; each that is found is then compared with its streams. */
const requestsOf = (cause: RecordedEvent): readonly (readonly Condition[])[] => {
  if (cause.type === "EndpointChanged") {
    const { endpoint_id, changes } = cause.data as Extract<EndpointEvent, { type: "EndpointChanged" }>["data"];
    if (changes.url === undefined && changes.headers === undefined) return [];
    return [[...heldOf(cause), equal("endpoint_id", endpoint_id)]];
  }
  const { name, version } = cause.data as Extract<ActionEvent, { type: "ActionDefined" }>["data"];
  return version === 1 ? [] : [[...heldOf(cause), equal("type", name)]];
};

/** The view of bundles has no index by endpoint or action, so every held bundle is checked. */
const bundlesOf = (cause: RecordedEvent): readonly (readonly Condition[])[] =>
  requestsOf(cause).length === 0 ? [] : [heldOf(cause)];

/** Tells people early of a changed target. Without these reactions, only a vote or an attempt would find the change. */
export const changedTargets = (deps: ChangedTargetsDeps): readonly Reaction[] => {
  const finderOf = ({ meta }: RecordedEvent) => ({
    account: meta.account,
    trace: { trace_id: meta.trace_id, span_id: meta.span_id },
  });
  const renewing = (kind: keyof ApprovalRenewal, list: Omit<Parameters<typeof forEachListed>[1], "reach">) =>
    forEachListed(deps, {
      ...list,
      reach: async (cause, id) => {
        await deps.renewal[kind](id, finderOf(cause));
      },
    });
  const runs = [
    renewing("event", { view: events, newest: "received_at", searches: requestsOf }),
    renewing("bundle", { view: bundles, newest: "created_at", searches: bundlesOf }),
  ];
  return (["EndpointChanged", "ActionDefined"] as const).flatMap((on) => runs.map((run) => ({ on, run })));
};
