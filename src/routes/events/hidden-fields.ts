import { bundle } from "../../../domain/bundle/decider.ts";
import type { BundleRequest } from "../../../domain/bundle/events.ts";
import { requestOf } from "../../../domain/bundle/state.ts";
import type { Request } from "../../../domain/delivery/events.ts";
import { eventOf } from "../../../domain/events.ts";
import { parseFieldPath } from "../../../domain/gate/field-path.ts";
import { type PolicyRef, policiesOf } from "../../../domain/gate/verdict.ts";
import type { PolicyDefinition } from "../../../domain/policy/definition.ts";
import type { PolicyEvent } from "../../../domain/policy/events.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { type BodyReader, directBodyReader } from "../../bodies/body-reader.ts";
import { type PlacesOrder, placesOfResults } from "../../bodies/result-places.ts";
import { hasRole, type Principal } from "../../http/route.ts";
import type { HiddenPaths } from "../../redaction/answer-redaction.ts";
import { bundleStream } from "../../streams/bundle-id.ts";
import type { Payloads } from "../../streams/payloads.ts";
import { foldStream } from "../../streams/run-command.ts";

export type HiddenDeps = {
  readonly log: EventLog;
  readonly payloads: Pick<Payloads, "read">;
  readonly bodyReader?: BodyReader;
};

/** Members of an undo's payload: `payload` is that of the step it undoes, `result` what the step's target answered. */
const STEP_PAYLOAD = "payload";
const STEP_RESULT = "result";

export const publishedVersion = async (
  log: EventLog,
  { id, version }: { readonly id: string; readonly version: number },
): Promise<PolicyDefinition> => {
  // Each version is one record of the policy's stream, the first being version 1 at revision 0.
  const [record] = await log.read(`policy-${id}`, version === 1 ? null : version - 2, 1);
  const published = record && eventOf<PolicyEvent>(record);
  if (published?.data.version !== version) throw new Error(`policy ${id} has no version ${version}`);
  return published.data.definition;
};

const pathsOf = async (log: EventLog, ref: PolicyRef): Promise<HiddenPaths> => {
  const { redact = [] } = await publishedVersion(log, ref);
  return redact.map(parseFieldPath).filter((path) => path !== null);
};

/** The fields that the verdict's policies hide from this reader; nothing is hidden from an admin. */
export const hiddenPaths = async (
  log: EventLog,
  { verdict }: Pick<Request, "verdict">,
  principal: Principal,
): Promise<HiddenPaths> => {
  if (hasRole(principal, "admin")) return [];
  return (await Promise.all(policiesOf(verdict).map((policy) => pathsOf(log, policy)))).flat();
};

/** True if this reader sees fields hidden from others, or if that is unknown: then the read is recorded. */
export const seesHidden = async (
  log: EventLog,
  { verdict }: Pick<Request, "verdict">,
  principal: Principal,
): Promise<boolean> => {
  if (!hasRole(principal, "admin")) return false;
  try {
    const definitions = await Promise.all(policiesOf(verdict).map((policy) => publishedVersion(log, policy)));
    return definitions.some(({ redact = [] }) => redact.length > 0);
  } catch {
    return true;
  }
};

/**
 * For each step, the fields that the policies hide. If they hide any, what was inserted from results of other steps is
 * hidden as well, because it may come from a hidden field.
 */
export const hiddenOfSteps = async (
  { log, payloads, bodyReader = directBodyReader }: HiddenDeps,
  request: BundleRequest,
  principal: Principal,
): Promise<readonly HiddenPaths[]> => {
  const paths = await hiddenPaths(log, request, principal);
  if (paths.length === 0) return request.steps.map(() => paths);
  const placesOf = (order: PlacesOrder) => bodyReader.run(principal.account, "places", order);
  return (await placesOfResults(payloads, request, placesOf)).map((places) => [...paths, ...places]);
};

/** An undo repeats its step's payload and answer, so what is hidden in these is hidden in the undo as well. */
export const hiddenOfEvent = async (
  deps: HiddenDeps,
  event: Pick<Request, "verdict" | "bundle">,
  principal: Principal,
): Promise<HiddenPaths> => {
  const paths = await hiddenPaths(deps.log, event, principal);
  const { bundle: step } = event;
  if (paths.length === 0 || step === undefined) return paths;
  const request = requestOf((await foldStream(deps.log, bundle, bundleStream(step.id))).state);
  if (request === null) throw new Error(`${step.id} was never decided, and has a step`);
  const hidden = (await hiddenOfSteps(deps, request, principal))[step.index] ?? paths;
  if (!step.undo) return hidden;
  // The step's target may have repeated a hidden value anywhere in its answer, so that is hidden as a whole.
  const inside = [...hidden.map((path) => [STEP_PAYLOAD, ...path]), [STEP_RESULT]];
  // An empty path hides the step's whole payload; in the undo, that is the member `payload` and not everything.
  return [...hidden.filter(({ length }) => length > 0), ...inside];
};
