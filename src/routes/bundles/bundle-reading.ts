import { type Bundle, requestOf, startOf } from "../../../domain/bundle/state.ts";
import { directBodyReader } from "../../bodies/body-reader.ts";
import { bundleAnswer, type ShowResults } from "../../bundles/answer.ts";
import { stepTimesOf } from "../../bundles/step-times.ts";
import type { CallCounts } from "../../calls/call-counts.ts";
import { type Answer, type Call, calledBy, type Principal } from "../../http/route.ts";
import { redactionSource } from "../../redaction/answer-redaction.ts";
import type { StreamState } from "../../streams/run-command.ts";
import { type HiddenDeps, hiddenOfSteps, seesHidden } from "../events/hidden-fields.ts";

export type BundleReadingDeps = HiddenDeps & { readonly calls: Pick<CallCounts, "payloadRead"> };
export type OfOne = { readonly params: "id" };

/** Hides in the targets' answers what the policies redact; an admin sees all of it. */
const visibleResults = async (
  deps: BundleReadingDeps,
  principal: Principal,
  { state }: StreamState<Bundle>,
): Promise<ShowResults> => {
  const { bodyReader = directBodyReader } = deps;
  const request = requestOf(state);
  const paths = request === null ? [] : await hiddenOfSteps(deps, request, principal);
  const came = state.phase === "running" ? state.steps : [];
  return async (results) => {
    const hidings = await Promise.all(
      results.map(async (result, index) => {
        const hidden = paths[index] ?? [];
        const step = request?.steps[index];
        if (result === null || hidden.length === 0 || step === undefined) return null;
        const sent = startOf(came[index])?.payload ?? null;
        return redactionSource(hidden, sent === null ? null : await deps.payloads.read(step.event_id, sent));
      }),
    );
    return bodyReader.run(principal.account, "results", { results, hidings });
  };
};

/** Answers with the bundle. An admin's read of fields that are hidden from others is recorded. */
export const answerTo = async (
  deps: BundleReadingDeps,
  call: Call<OfOne>,
  known: StreamState<Bundle>,
): Promise<Answer> => {
  const { principal, params } = call;
  const source = { log: deps.log, account: principal.account };
  const times = await stepTimesOf(deps.log, params.id);
  if (principal.kind === "agent") return bundleAnswer(source, known, undefined, times);
  const request = requestOf(known.state);
  if (request !== null && (await seesHidden(deps.log, request, principal)))
    deps.calls.payloadRead(calledBy(call), params.id);
  return bundleAnswer(source, known, await visibleResults(deps, principal, known), times);
};
