import type { BundleRequest, Step } from "../../domain/bundle/events.ts";
import { eurOrNull } from "../../domain/gate/cost.ts";
import { redactJson } from "../../domain/gate/redact.ts";
import type { Json } from "../../domain/ports.ts";
import type { Aggregates } from "../aggregates.ts";
import type { Payloads } from "../payloads.ts";
import { WHOLE_PAYLOAD } from "./approval-shown.ts";
import { type ApprovalTarget, endpointShown } from "./approval-target.ts";
import type { Hidden } from "./hidden-fields.ts";

/** A step as a person reads it before they approve its bundle. */
export type ShownStep = {
  readonly index: number;
  readonly action: string;
  /** Null when it was erased or is damaged. What a result will stand in for is shown as the agent sent it. */
  readonly payload: Json;
  readonly endpoint: ApprovalTarget | null;
  readonly cost_eur: number | null;
  readonly reversibility: Step["reversibility"];
  readonly compensation: { readonly action: string; readonly endpoint: ApprovalTarget | null } | null;
};

export type ShownSteps = {
  readonly payload: readonly ShownStep[];
  readonly payload_format: "json" | null;
  readonly redacted: boolean;
  readonly hidden: Hidden;
  /** Of the stored payload; empty when none is shown from. */
  readonly salt: Uint8Array;
  /** What is stored does not match its hash: it is not shown, and cannot be approved. */
  readonly payload_damaged?: true;
};

type Deps = {
  readonly aggregates: Aggregates;
  readonly payloads: Pick<Payloads, "read">;
};

/** The steps of a bundle with all that is decided on, without the fields that `hidden` names in each step's payload. */
export const stepsShown = async (
  { aggregates, payloads }: Deps,
  request: BundleRequest,
  hidden: Hidden,
): Promise<ShownSteps> => {
  const { bundle_id, payload, steps } = request;
  const stored = await payloads.read(bundle_id, payload);
  const kept = stored === "damaged" ? null : stored;
  // The array of all steps' payloads, written here by JSON.stringify.
  const bodies = kept === null ? [] : (JSON.parse(kept.body.toString("utf8")) as readonly Json[]);
  const shown = async ({
    index,
    action,
    endpoint_id,
    cost,
    reversibility,
    compensation,
    bound,
  }: Step): Promise<ShownStep> => ({
    index,
    action: action.name,
    payload: redactJson(bodies[index] ?? null, hidden),
    endpoint: await endpointShown(aggregates, endpoint_id, bound),
    cost_eur: eurOrNull(cost),
    reversibility,
    compensation:
      compensation === null
        ? null
        : {
            action: compensation.name,
            endpoint: await endpointShown(aggregates, compensation.endpoint_id, compensation.bound),
          },
  });
  return {
    payload: await Promise.all(steps.map(shown)),
    payload_format: kept === null ? null : "json",
    redacted: hidden.length > 0,
    hidden: stored === "damaged" ? WHOLE_PAYLOAD : hidden,
    salt: kept?.salt ?? new Uint8Array(),
    ...(stored === "damaged" ? { payload_damaged: true } : {}),
  };
};
