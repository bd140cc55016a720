import type { PresentAgent } from "../../domain/agent/decider.ts";
import { bundle } from "../../domain/bundle/decider.ts";
import type { BundleEvent, BundleRequest } from "../../domain/bundle/events.ts";
import { type Bundle, erasedUpTo, isClaimed, requestOf } from "../../domain/bundle/state.ts";
import { defined } from "../../domain/defined.ts";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import type { Json } from "../../domain/json.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import { derivedId } from "../../infra/crypto/ids.ts";
import { ClaimLoop, type ClaimLoopDeps } from "../admission/claim-loop.ts";
import type { Claimable, RecordedVerdict } from "../admission/claim-subject.ts";
import { denialProblem } from "../admission/denial-problem.ts";
import type { JudgeDeps } from "../admission/judge.ts";
import { singleFlight } from "../admission/single-flight.ts";
import { approvalBinding } from "../approvals/approval-binding.ts";
import { approvalRequests } from "../approvals/approval-requests.ts";
import { activeAgent } from "../execute/active-agent.ts";
import { bundleStream } from "../streams/bundle-id.ts";
import type { Trace } from "../streams/envelope.ts";
import { type Problem, problem } from "../streams/problems.ts";
import { foldStream, type StreamState } from "../streams/run-command.ts";
import { bundleJudgement, type JudgedBundle } from "./bundle-judgement.ts";
import { bundleDigest, stepDigests } from "./digests.ts";
import { bundlePlan, type Plan, type PlanDeps } from "./plan.ts";

export type BundleOrder = {
  readonly account: string;
  readonly agentId: string;
  /** The Idempotency-Key: a request that repeats it gets the same bundle. */
  readonly key: string;
  readonly name: string | null;
  readonly steps: readonly { readonly action: string; readonly payload: Json }[];
  readonly runId: string | null;
  /** The number of agents that called each other before this request. */
  readonly depth: number;
  readonly userAgent: string;
  readonly trace: Trace;
};

export type BundleStart = {
  readonly bundleId: string;
  readonly known: StreamState<Bundle>;
  readonly replayed: boolean;
  /** The position of the bundle's last record, or of its approval's if that is later. */
  readonly position: Position | undefined;
};

export type BeginBundle = (order: BundleOrder) => Promise<BundleStart | Problem>;

export type BundleClaimDeps = JudgeDeps & ClaimLoopDeps & PlanDeps;

const JSON_TYPE = "application/json";

const reused = (bundleId: string): Problem =>
  problem("idempotency-key-reused", "This Idempotency-Key was used with different steps before.", {
    extra: { bundle_id: bundleId },
  });

/** A repeat is compared with the action versions of the first request: publishing a new version does not change it. */
const isRepeatOf = (
  key: Uint8Array,
  { account, agentId: agent, steps }: BundleOrder,
  recorded: BundleRequest,
): boolean => {
  if (steps.length !== recorded.steps.length) return false;
  const identities = recorded.steps.map(({ action, endpoint_id: target }, index) => ({
    ...{ version: action.version, target },
    action: steps[index]?.action ?? "",
    payload: steps[index]?.payload ?? null,
  }));
  return bundleDigest(account, agent, stepDigests({ key, account, agent, steps: identities })) === recorded.digest;
};

type PlannedBundle = {
  readonly order: BundleOrder;
  readonly bundleId: string;
  readonly agent: PresentAgent;
  readonly planned: Plan;
  readonly receivedAt: number;
};

/** Decides a bundle once, however often it is requested. `BundleRunner` executes it afterwards. */
export const bundleClaim = (deps: BundleClaimDeps): BeginBundle => {
  const { log, clock } = deps;
  const plan = bundlePlan(deps);
  const judge = bundleJudgement(deps);
  const claims = new ClaimLoop(deps);
  const binding = approvalBinding(deps);
  const approvals = approvalRequests(deps);
  const decideOnce = singleFlight<string, BundleStart | Problem>();

  /** Null if no earlier request has claimed the bundle. */
  const before = async (
    order: BundleOrder,
    bundleId: string,
    known: StreamState<Bundle>,
  ): Promise<BundleStart | Problem | null> => {
    const { state } = known;
    const recorded = requestOf(state);
    if (recorded !== null && !isRepeatOf(deps.digestKey, order, recorded)) return reused(bundleId);
    // A bundle that was refused is decided anew when it is requested again.
    if (!isClaimed(state)) return null;
    const position = await approvals.recorded(bundleStream(bundleId), known);
    return { bundleId, known, replayed: true, position };
  };

  const claimable = ({
    order,
    bundleId,
    agent,
    planned,
    receivedAt,
  }: PlannedBundle): Claimable<Bundle, BundleEvent, BundleRequest, JudgedBundle> => {
    const { account, agentId, key, name, runId, depth, userAgent, trace } = order;
    const origin = { kind: "agent", id: agentId, name: agent.settings.name, type: "agent" } as const;
    const headers = { "user-agent": userAgent };
    const run = { id: runId, depth };
    const body = Buffer.from(JSON.stringify(order.steps.map(({ payload }) => payload)));
    return {
      ...{ account, origin, trace, receivedAt, decider: bundle, isClaimed, erasedUpTo },
      id: bundleId,
      stream: bundleStream(bundleId),
      incoming: () => ({ body, contentType: JSON_TYPE, contentEncoding: "", headers }),
      endsLater: true,
      copies: 2,
      records: 1 + planned.steps.length,
      judge: (places) =>
        judge(
          { bundleId, account, origin, policyId: agent.settings.policy_id, plan: planned, headers, run, trace },
          places,
        ),
      requestOf: (decided: RecordedVerdict, { costs }) => ({
        bundle_id: bundleId,
        ...{ name, origin, key, run },
        steps: planned.steps.map(({ step }) => ({ ...step, cost: costs[step.index] ?? null })),
        digest: planned.digest,
        ...defined(decided),
      }),
      bind: (request) => binding.ofBundle(account, request),
    };
  };

  const begin = async (order: BundleOrder, agent: PresentAgent, bundleId: string): Promise<BundleStart | Problem> => {
    const receivedAt = clock.now();
    const from = await foldStream(log, bundle, bundleStream(bundleId));
    const earlier = await before(order, bundleId, from);
    if (earlier !== null) return earlier;
    const { account, steps } = order;
    const planned = await plan({ bundleId, account, steps }, agent);
    if ("problem" in planned) return planned;
    const claimed = await claims.claim(claimable({ order, bundleId, agent, planned, receivedAt }), from);
    if (claimed.outcome === "denied") return denialProblem({ bundle_id: bundleId }, claimed.judged);
    const { known } = claimed;
    if (claimed.outcome === "claimed") return { bundleId, known, replayed: false, position: claimed.position };
    return (await before(order, bundleId, known)) ?? reused(bundleId);
  };

  return async (order) => {
    const { account, agentId, key } = order;
    const agent = await activeAgent(deps, agentId);
    if ("problem" in agent) return agent;
    const bundleId = derivedId("bun_", account, agentId, key);
    const asked = canonicalJson(order.steps.map(({ action, payload }) => [action, payload]));
    const { landed, isFirst } = await decideOnce(bundleId, asked, () => begin(order, agent, bundleId));
    return isFirst || "problem" in landed ? landed : { ...landed, replayed: true };
  };
};
