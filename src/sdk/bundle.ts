import type { ActionTypes, PayloadOf } from "./actions.ts";
import {
  type ActionResult,
  type Common,
  commonOf,
  isPending,
  type PendingBundleStatus,
  resultOf,
  textOf,
} from "./execution.ts";
import { isObject, type JsonObject, type Read } from "./json.ts";

/** Stands in a step's payload for a value of an earlier step's result, at a JSON Pointer (RFC 6901) into its body. */
export type FromResult = { readonly $result: { readonly step: number; readonly pointer: string } };

export type Referring<Payload> = unknown extends Payload
  ? unknown
  :
      | FromResult
      | (Payload extends object ? { readonly [Member in keyof Payload]: Referring<Payload[Member]> } : Payload);

export type Step<
  Actions extends { readonly [Name in keyof Actions]: ActionTypes },
  Name extends keyof Actions,
> = Name extends string ? { readonly action: Name; readonly payload: Referring<PayloadOf<Actions[Name]>> } : never;

export type StepDone<Body = unknown> = {
  readonly index: number;
  readonly action: string;
  readonly eventId: string | null;
  /** The event that undoes the step; null if no undo was started. */
  readonly compensationEventId: string | null;
} & (
  | { readonly status: "succeeded"; readonly result: ActionResult<Body> }
  | {
      /** `skipped`: the step never started. `unknown`: it may have happened, but its outcome was never seen. */
      readonly status: "pending" | "running" | "failed" | "unknown" | "compensated" | "compensation_failed" | "skipped";
      readonly result: ActionResult | null;
    }
);

export type LeftStep = { readonly index: number; readonly action: string; readonly why: string };

type CommonOfBundle<Bodies extends readonly unknown[]> = Common & {
  readonly bundleId: string;
  readonly approvalId: string | null;
  readonly steps: { readonly [Index in keyof Bodies]: StepDone<Bodies[Index]> };
  readonly reason: string | null;
  readonly left: readonly LeftStep[];
};

export type PendingBundle<Bodies extends readonly unknown[] = readonly unknown[]> = CommonOfBundle<Bodies> & {
  readonly status: PendingBundleStatus;
};

/** While `rollback_incomplete`, people may still resolve the steps in `left`; then the bundle is rolled back. */
export type EndedBundle<Bodies extends readonly unknown[] = readonly unknown[]> = CommonOfBundle<Bodies> & {
  readonly status: "committed" | "rolled_back" | "rollback_incomplete" | "blocked" | "cancelled";
};

export type Bundle<Bodies extends readonly unknown[] = readonly unknown[]> =
  | PendingBundle<Bodies>
  | EndedBundle<Bodies>;

const ENDED: readonly unknown[] = [
  "committed",
  "rolled_back",
  "rollback_incomplete",
  "blocked",
  "cancelled",
] satisfies EndedBundle["status"][];

const stepOf = ({ index, action, status, ...it }: JsonObject) => ({
  index,
  action,
  status,
  eventId: textOf(it.event_id),
  compensationEventId: textOf(it.compensation_event_id),
  result: resultOf(it.result),
});

export const readBundle: Read<Bundle> = (body, replayed) => {
  const { status, steps, left = [] } = body;
  const bundleId = textOf(body.id);
  if (
    bundleId === null ||
    !(isPending(status) || ENDED.includes(status)) ||
    !Array.isArray(steps) ||
    !steps.every(isObject)
  )
    return null;
  return {
    bundleId,
    status,
    ...commonOf(body, replayed),
    approvalId: textOf(body.approval_id),
    steps: steps.map(stepOf),
    reason: textOf(body.reason),
    left,
  } as Bundle;
};
