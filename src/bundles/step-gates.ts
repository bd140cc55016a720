import type { BundleRequest, StepRefusal } from "../../domain/bundle/events.ts";
import type { EventLog, Json } from "../../domain/ports.ts";
import type { CompiledActions } from "../admission/compiled-action.ts";
import type { CompiledPolicies } from "../admission/compiled-policy.ts";

export type StepGatesDeps = {
  readonly log: EventLog;
  readonly policies: CompiledPolicies;
  readonly actions: CompiledActions;
};

/** A step whose payload is known at last. */
export type KnownStep = {
  readonly request: BundleRequest;
  readonly index: number;
  /** Resolved. */
  readonly payload: Json;
  /** As they were kept with the bundle's payload. */
  readonly headers: Readonly<Record<string, string>>;
  /** People have approved the bundle. */
  readonly isApproved: boolean;
};

/** Null: it may start. Rejects with the log's errors. */
export type StepGates = (step: KnownStep) => Promise<StepRefusal | null>;

export const stepGates =
  (_deps: StepGatesDeps): StepGates =>
  async () =>
    null;
