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

/** Stands in a step's payload for what an earlier step's target answered, at the pointer (RFC 6901) into its body. */
export type FromResult = { readonly $result: { readonly step: number; readonly pointer: string } };

/** A payload of which any part may come from an earlier step. */
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
  /** Null until it is started. */
  readonly eventId: string | null;
  /** Of what takes it back; null when that was never started. */
  readonly compensationEventId: string | null;
} & (
  | { readonly status: "succeeded"; readonly result: ActionResult<Body> }
  | {
      /** Skipped: never started. Unknown: nobody has seen the end of what it may have done. */
      readonly status: "pending" | "running" | "failed" | "unknown" | "compensated" | "compensation_failed" | "skipped";
      readonly result: ActionResult | null;
    }
);

/** What a person has to take back by hand, and why. */
export type LeftStep = { readonly index: number; readonly action: string; readonly why: string };

type CommonOfBundle<Bodies extends readonly unknown[]> = Common & {
  readonly bundleId: string;
  /** Of a bundle that was held; else null. */
  readonly approvalId: string | null;
  readonly steps: { readonly [Index in keyof Bodies]: StepDone<Bodies[Index]> };
  /** Why it is rolled back or was cancelled; else null. */
  readonly reason: string | null;
  /** Of a rollback that could not finish; else empty. */
  readonly left: readonly LeftStep[];
};

/** Held: a person has to decide first. */
export type PendingBundle<Bodies extends readonly unknown[] = readonly unknown[]> = CommonOfBundle<Bodies> & {
  readonly status: PendingBundleStatus;
};

/** `left` may still become less, by people: a bundle of which nothing is left is rolled back. */
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

/** A bundle by the body of an answer; null when the body is not one, or says what this version does not understand. */
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
  // The rest is the service's own, as `/openapi.json` describes it.
  return {
    bundleId,
    status,
    ...commonOf(body, replayed),
    approvalId: textOf(body.approval_id),
    steps: steps.map(stepOf),
    reason: textOf(body.reason),
    left,
  } as unknown as Bundle;
};
