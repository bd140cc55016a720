import type { Action, DefinedAction } from "../../domain/action/decider.ts";
import type { PresentAgent } from "../../domain/agent/decider.ts";
import { inScope } from "../../domain/agent/scope.ts";
import type { Compensation, Step } from "../../domain/bundle/events.ts";
import { pathShown, type Reference, referencesOf } from "../../domain/bundle/results.ts";
import type { Json } from "../../domain/json.ts";
import { actionNamed, unknownAction } from "../execute/active-agent.ts";
import type { CompiledAction, CompiledActions } from "../gates/compiled-action.ts";
import { LISTED_ERRORS_MAX } from "../http/limits.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { eventIdOf } from "../streams/event-id.ts";
import { type Problem, type ProblemCode, problem } from "../streams/problems.ts";
import { bundleDigest, samenessDigests, stepDigests } from "./digests.ts";

/** Each step waits until the previous one has ended, so larger bundles are better split. */
export const STEPS_MAX = 50;

export type PlanDeps = {
  readonly aggregates: Pick<Aggregates, "load">;
  readonly actions: CompiledActions;
  readonly digestKey: Uint8Array;
};

export type PlanOrder = {
  readonly bundleId: string;
  readonly account: string;
  readonly steps: readonly { readonly action: string; readonly payload: Json }[];
};

export type PlannedStep = {
  readonly step: Omit<Step, "cost">;
  readonly payload: Json;
  readonly references: readonly Reference[];
  readonly isInScope: boolean;
  readonly compiled: CompiledAction;
  readonly sameness: string;
};

export type Plan = { readonly steps: readonly PlannedStep[]; readonly digest: string };

type FieldError = { readonly path: string; readonly message: string };

const refused = (code: ProblemCode, errors: readonly FieldError[]): Problem => {
  const [first] = errors;
  return problem(code, `${first?.path ?? ""} ${first?.message ?? ""}.`, { errors });
};

const actionPath = (index: number): string => `/steps/${index}/action`;

const badReferences = (payload: Json, index: number): readonly FieldError[] => {
  const { references, malformed } = referencesOf(payload);
  const pathOf = (path: string): string => `/steps/${index}/payload${path}`;
  return [
    ...malformed.map(({ path, detail }) => ({ path: pathOf(path), message: detail })),
    ...references
      .filter(({ step }) => step >= index)
      .map(({ path, step }) => ({
        path: pathOf(pathShown(path)),
        message: `uses the result of step ${step}, which does not come before step ${index}`,
      })),
  ];
};

/** Null if the action names no compensation, or one that is not defined. */
const compensationOf = async (
  aggregates: PlanDeps["aggregates"],
  account: string,
  { definition }: DefinedAction,
): Promise<Compensation | null> => {
  const { compensation: name } = definition;
  if (name === undefined) return null;
  const it = await actionNamed(aggregates, account, name);
  return it.phase === "defined" ? { name, version: it.version, endpoint_id: it.definition.endpoint_id } : null;
};

export const bundlePlan = ({ aggregates, actions, digestKey }: PlanDeps) => {
  const named = async (
    { account, steps }: PlanOrder,
    { settings: { scope } }: PresentAgent,
  ): Promise<readonly DefinedAction[] | Problem> => {
    const found: DefinedAction[] = [];
    const missing: number[] = [];
    for (const [index, { action: name }] of steps.entries()) {
      const action: Action = await actionNamed(aggregates, account, name);
      if (action.phase === "defined") found.push(action);
      else missing.push(index);
    }
    const isAllowed = (index: number): boolean => inScope(scope, steps[index]?.action ?? "");
    const untold = missing.find((index) => !isAllowed(index));
    const first = untold ?? missing[0];
    if (first === undefined) return found;
    return unknownAction(steps[first]?.action ?? "", untold === undefined, actionPath(first));
  };

  const compensations = async (
    account: string,
    defined: readonly DefinedAction[],
  ): Promise<readonly (Compensation | null)[] | Problem> => {
    const early = defined.slice(0, -1).flatMap(({ name, definition }, index) => {
      if (definition.reversibility !== "irreversible") return [];
      const message = `is ${name}, which cannot be taken back: only the last step may be irreversible`;
      return [{ path: actionPath(index), message }];
    });
    if (early.length > 0) return refused("irreversible-not-last", early);
    const found: (Compensation | null)[] = [];
    const without: FieldError[] = [];
    for (const [index, action] of defined.entries()) {
      const compensation = await compensationOf(aggregates, account, action);
      found.push(compensation);
      const { compensation: name, reversibility } = action.definition;
      const needsNone = name === undefined && reversibility !== "compensable";
      if (needsNone || compensation !== null) continue;
      const why = name === undefined ? "has no compensation" : `has the compensation ${name}, which is not defined`;
      without.push({ path: actionPath(index), message: `is ${action.name}, which ${why}` });
    }
    return without.length > 0 ? refused("no-compensation", without) : found;
  };

  return async (order: PlanOrder, agent: PresentAgent): Promise<Plan | Problem> => {
    const { bundleId, account, steps } = order;
    const defined = await named(order, agent);
    if ("problem" in defined) return defined;
    const bad = steps.flatMap(({ payload }, index) => badReferences(payload, index));
    if (bad.length > 0) return refused("invalid-bundle", bad.slice(0, LISTED_ERRORS_MAX));
    const scopes = steps.map(({ action }) => inScope(agent.settings.scope, action));
    // The scope gate will refuse the bundle: the agent is told nothing about actions outside of its scope.
    const undone = scopes.includes(false) ? defined.map(() => null) : await compensations(account, defined);
    if ("problem" in undone) return undone;

    const identity = {
      key: digestKey,
      account,
      agent: agent.agentId,
      steps: defined.map(({ name: action, version, definition }, index) => ({
        ...{ action, version, target: definition.endpoint_id },
        payload: steps[index]?.payload ?? null,
      })),
    };
    const [digests, sameness] = [stepDigests(identity), samenessDigests(identity)];
    return {
      digest: bundleDigest(account, agent.agentId, digests),
      steps: defined.map((action, index): PlannedStep => {
        const { name, version, definition } = action;
        const payload = steps[index]?.payload ?? null;
        const { references } = referencesOf(payload);
        return {
          step: {
            index,
            event_id: eventIdOf(account, bundleId, `${index}`),
            undo_event_id: eventIdOf(account, bundleId, `${index}/undo`),
            action: { name, version, digest: digests[index] ?? "" },
            endpoint_id: definition.endpoint_id,
            reversibility: definition.reversibility,
            compensation: undone[index] ?? null,
            uses_results: references.length > 0,
          },
          payload,
          references,
          isInScope: scopes[index] === true,
          compiled: actions.get(action),
          sameness: sameness[index] ?? "",
        };
      }),
    };
  };
};
