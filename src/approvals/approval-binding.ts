import { action as actionDecider } from "../../domain/action/decider.ts";
import type { BundleRequest, Compensation, Step } from "../../domain/bundle/events.ts";
import { defined } from "../../domain/defined.ts";
import type { Bound, Request } from "../../domain/delivery/events.ts";
import { endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import { type Target, targetOf } from "../../domain/endpoint/target.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import { actionStream } from "../streams/action-stream.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { type Envelope, systemEnvelope } from "../streams/envelope.ts";
import { bundleApprovalDigest, eventDigest } from "./approvals.ts";

export type BindingDeps = {
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly clock: Clock;
};

export type BoundRequest<Q> = { readonly request: Q; readonly digest: string };

export type ApprovalBinding = {
  ofEvent(account: string, request: Request): Promise<BoundRequest<Request>>;
  ofBundle(account: string, request: BundleRequest): Promise<BoundRequest<BundleRequest>>;
};

type Asked = { readonly name: string; readonly version: number } | undefined;

/** Binds a request to the target and the version in force, read from their streams: other nodes may change them. */
export const approvalBinding = ({ aggregates, clock }: BindingDeps): ApprovalBinding => {
  /** The command id is fixed, so that nodes that mark an endpoint at the same time append the same record. */
  const envelopeOf = (account: string, endpointId: string): Envelope =>
    systemEnvelope({
      actor: "approvals",
      commandId: `under-approval-${endpointId}`,
      account,
      at: new Date(clock.now()).toISOString(),
    });

  /** Null if the endpoint is deleted. Marks it before reading, so that no key changes a secret header afterwards. */
  const targetNow = async (account: string, endpointId: string): Promise<Target | null> => {
    const stream = `endpoint-${endpointId}`;
    const { state } = await aggregates.load(endpointDecider, stream, 0);
    if (state.phase !== "present") return null;
    const envelope = envelopeOf(account, endpointId);
    const command = { type: "PutUnderApproval", account, at: envelope.at } as const;
    const decided = endpointDecider.decide(command, state);
    if (!decided.ok) return null;
    if (decided.events.length === 0) return targetOf(state);
    const { state: marked } = await aggregates.handle(endpointDecider, stream, command, envelope);
    return marked.phase === "present" ? targetOf(marked) : null;
  };

  const actionNow = async (account: string, asked: Asked): Promise<Omit<Bound, "target">> => {
    if (asked === undefined) return { action_version: null };
    const { state } = await aggregates.load(actionDecider, actionStream(account, asked.name), 0);
    if (state.phase !== "defined") return { action_version: state.phase === "absent" ? asked.version : state.version };
    return { action_version: state.version, ...defined({ title: state.definition.title }) };
  };

  const boundNow = async (account: string, endpointId: string | null, asked: Asked): Promise<Bound> => ({
    target: endpointId === null ? null : await targetNow(account, endpointId),
    ...(await actionNow(account, asked)),
  });

  const undoNow = async (account: string, undo: Compensation | null): Promise<Compensation | null> =>
    undo === null ? null : { ...undo, bound: await boundNow(account, undo.endpoint_id, undo) };

  const stepNow = async (account: string, step: Step): Promise<Step> => ({
    ...step,
    bound: await boundNow(account, step.endpoint_id, step.action),
    compensation: await undoNow(account, step.compensation),
  });

  return {
    async ofEvent(account, request) {
      const bound = { ...request, bound: await boundNow(account, request.endpoint_id, request.action) };
      return { request: bound, digest: eventDigest(account, bound) };
    },
    async ofBundle(account, request) {
      const steps: Step[] = [];
      for (const step of request.steps) steps.push(await stepNow(account, step));
      const bound = { ...request, steps };
      return { request: bound, digest: bundleApprovalDigest(account, bound) };
    },
  };
};
