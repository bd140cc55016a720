import { CHANGED, type Renewal, renewedTerms } from "../../domain/approval/terms.ts";
import { bundle } from "../../domain/bundle/decider.ts";
import type { BundleRequest } from "../../domain/bundle/events.ts";
import type { Bundle } from "../../domain/bundle/state.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { Bound, Request } from "../../domain/delivery/events.ts";
import { type Delivery, type Hold, isActive } from "../../domain/delivery/state.ts";
import { sameTarget, type Target } from "../../domain/endpoint/target.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { sameJson } from "../../domain/same-json.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { bundleStream } from "../streams/bundle-id.ts";
import { type Envelope, systemEnvelope, type Trace } from "../streams/envelope.ts";
import { foldStream, runCommand, type StreamState } from "../streams/run-command.ts";
import { approvalBinding } from "./approval-binding.ts";
import { approvalRequests } from "./approval-requests.ts";
import { nextApprovalId } from "./approvals.ts";
import { makerOf } from "./requesters.ts";

export type ApprovalRenewalDeps = {
  readonly log: EventLog;
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly clock: Clock;
  readonly randomness: Randomness;
};

type Finder = {
  readonly account: string;
  readonly trace: Trace;
  /** The node that is about to send the request. `othersAreGone` says that no other node can have a lease. */
  readonly node?: string;
  readonly othersAreGone?: boolean;
};

/**
 * If the target or version that an approval is bound to has changed, the request is held under a new approval and the
 * old one becomes void. Resolves with the state afterwards; rejects with the log's errors.
 */
export type ApprovalRenewal = {
  event(eventId: string, finder: Finder): Promise<StreamState<Delivery>>;
  bundle(bundleId: string, finder: Finder): Promise<StreamState<Bundle>>;
};

const NO_NODE = "";

type Replayer = Pick<Renewal, "member" | "replayedWith">;

const headerChanges = (what: string, before: Target, now: Target): readonly string[] => {
  const names = new Set([...Object.keys(before.headers), ...Object.keys(now.headers)]);
  const changed = [...names].filter((name) => before.headers[name] !== now.headers[name]).sort();
  return changed.length === 0 ? [] : [`${CHANGED}the headers ${changed.join(", ")} of ${what} were changed.`];
};

const changesBetween = (of: string, before: Bound | undefined, now: Bound | undefined): readonly string[] => {
  const [was, is] = [before?.target ?? null, now?.target ?? null];
  const what = `the endpoint${of}`;
  const url = was?.url === is?.url ? [] : [`${CHANGED}the URL of ${what} was changed from ${was?.url} to ${is?.url}.`];
  const isRedefined = before?.action_version !== now?.action_version;
  return [
    ...url,
    ...(was === null || is === null ? [] : headerChanges(what, was, is)),
    ...(isRedefined
      ? [
          `${CHANGED}the action${of} was redefined: version ${now?.action_version} is in force. The request is still sent as it was decided.`,
        ]
      : []),
  ];
};

const bundleChanges = (before: BundleRequest, now: BundleRequest): readonly string[] =>
  now.steps.flatMap(({ index, bound, compensation }) => {
    const was = before.steps[index];
    return [
      ...changesBetween(` of step ${index}`, was?.bound, bound),
      ...changesBetween(` that undoes step ${index}`, was?.compensation?.bound, compensation?.bound),
    ];
  });

/** True for a deleted endpoint: its requests are never sent, so people are not asked about them again. */
const isGone = (endpointId: string | null, bound: Bound | undefined): boolean =>
  endpointId !== null && (bound?.target ?? null) === null;

const isBundleGone = ({ steps }: BundleRequest): boolean =>
  steps.some(
    ({ endpoint_id, bound, compensation }) =>
      isGone(endpoint_id, bound) || (compensation !== null && isGone(compensation.endpoint_id, compensation.bound)),
  );

/** The hold under which the request may still be sent; null if there is none. */
const holdOf = (state: Delivery): (Hold & { readonly request: Request }) | null => {
  if (state.phase === "held") return state;
  if (!isActive(state) || state.hold === null) return null;
  return state.request.bundle === undefined ? { ...state.hold, request: state.request } : null;
};

/** A held request is bound to its target and the action's version, a released one to its target only. */
const isAsApproved = (state: Delivery, before: Bound | undefined, now: Bound | undefined): boolean => {
  if (state.phase === "held") return sameJson(before, now);
  const [was, is] = [before?.target ?? null, now?.target ?? null];
  return was === null || is === null || sameTarget(was, is);
};

export const approvalRenewal = (deps: ApprovalRenewalDeps): ApprovalRenewal => {
  const { log, clock, randomness } = deps;
  const binding = approvalBinding(deps);
  const approvals = approvalRequests(deps);

  const envelopeOf = ({ account, trace }: Finder): Envelope =>
    systemEnvelope({
      actor: "approvals",
      commandId: randomId("cmd_", randomness),
      account,
      trace,
      at: new Date(clock.now()).toISOString(),
    });

  const termsOf = (account: string, hold: Hold, about: Omit<Renewal, "approvalId">) =>
    renewedTerms(hold, { ...about, approvalId: nextApprovalId(account, hold.approval.approval_id) });

  const replayedBy = async (state: Delivery): Promise<Replayer> => {
    const by = isActive(state) ? state.replay?.by : undefined;
    if (by === undefined) return {};
    const replayedWith = await makerOf(deps.aggregates, by);
    return by.kind === "member" ? { member: by.id, replayedWith } : { replayedWith };
  };

  return {
    async event(eventId, finder) {
      const stream = `delivery-${eventId}`;
      const known = await foldStream(log, delivery, stream);
      const hold = holdOf(known.state);
      if (hold === null) return known;
      const { account, node = NO_NODE, othersAreGone = false } = finder;
      const { request, digest } = await binding.ofEvent(account, hold.request);
      const { bound: before } = hold.request;
      const { bound, endpoint_id } = request;
      if (bound === undefined || isGone(endpoint_id, bound) || isAsApproved(known.state, before, bound)) return known;
      const envelope = envelopeOf(finder);
      const changes = changesBetween("", before, bound);
      const { at } = envelope;
      const replayer = await replayedBy(known.state);
      const approval = termsOf(account, hold, { digest, changes, atMs: Date.parse(at), ...replayer });
      const { approval_id: approvalId } = hold.approval;
      const command = { type: "HoldAgain", approvalId, bound, approval, node, othersAreGone, at } as const;
      const ran = await runCommand(log, { decider: delivery, stream, from: known, command, envelope });
      if (ran.known.state.phase === "held") await approvals.recorded(stream, ran.known);
      return ran.known;
    },

    async bundle(bundleId, finder) {
      const stream = bundleStream(bundleId);
      const known = await foldStream(log, bundle, stream);
      const { state } = known;
      if (state.phase !== "held") return known;
      const { request, digest } = await binding.ofBundle(finder.account, state.request);
      if (isBundleGone(request) || sameJson(state.request.steps, request.steps)) return known;
      const envelope = envelopeOf(finder);
      const { at } = envelope;
      const changes = bundleChanges(state.request, request);
      const approval = termsOf(finder.account, state, { digest, changes, atMs: Date.parse(at) });
      const { approval_id: approvalId } = state.approval;
      const command = { type: "HoldAgain", approvalId, request, approval, at } as const;
      const ran = await runCommand(log, { decider: bundle, stream, from: known, command, envelope });
      if (ran.known.state.phase === "held") await approvals.recorded(stream, ran.known);
      return ran.known;
    },
  };
};
