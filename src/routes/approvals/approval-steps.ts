import type { BundleRequest, Step } from "../../../domain/bundle/events.ts";
import { eurOrNull } from "../../../domain/gate/cost.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { type ApprovalTarget, endpointWithTarget } from "./approval-target.ts";

export type StepAnswer = {
  readonly index: number;
  readonly action: string;
  /** The template of the sentence; null without one. */
  readonly title: string | null;
  readonly endpoint: ApprovalTarget | null;
  readonly cost_eur: number | null;
  readonly reversibility: Step["reversibility"];
  readonly compensation: { readonly action: string; readonly endpoint: ApprovalTarget | null } | null;
};

/** The steps of a bundle as people decide on them, without the payloads. */
export const stepAnswers = (aggregates: Aggregates, { steps }: BundleRequest): Promise<readonly StepAnswer[]> =>
  Promise.all(
    steps.map(async ({ index, action, endpoint_id, cost, reversibility, compensation, bound }) => ({
      index,
      action: action.name,
      title: bound?.title ?? null,
      endpoint: await endpointWithTarget(aggregates, endpoint_id, bound),
      cost_eur: eurOrNull(cost),
      reversibility,
      compensation:
        compensation === null
          ? null
          : {
              action: compensation.name,
              endpoint: await endpointWithTarget(aggregates, compensation.endpoint_id, compensation.bound),
            },
    })),
  );
