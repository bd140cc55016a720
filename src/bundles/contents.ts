import type { Step, StepRefusal } from "../../domain/bundle/events.ts";
import { referencesOf, resolveReferences, type StepResult } from "../../domain/bundle/results.ts";
import { type RunningBundle, startOf } from "../../domain/bundle/state.ts";
import type { Json } from "../../domain/json.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { answeredBody } from "../bodies/result.ts";
import { API_BODY_BYTES_MAX } from "../http/limits.ts";
import type { Trace } from "../streams/envelope.ts";
import type { Payloads } from "../streams/payloads.ts";
import type { StepGates } from "./step-gates.ts";

export type ContentsDeps = {
  readonly log: EventLog;
  readonly payloads: Pick<Payloads, "read">;
  readonly gates: StepGates;
};

export type Contents = {
  ofStep(
    state: RunningBundle,
    index: number,
    trace: Trace,
  ): Promise<{ readonly body: Buffer } | { readonly refusal: StepRefusal }>;
  ofUndo(state: RunningBundle, index: number): Promise<Buffer>;
};

const NO_ANSWER: StepResult = { missing: "has no answer" };

const refused = (code: string, detail: string) => ({ refusal: { code, detail } });
const encode = (value: Json): Buffer => Buffer.from(JSON.stringify(value));
const decode = (body: Buffer): Json => JSON.parse(body.toString("utf8")) as Json;

/** The bodies of deliveries are made from stored data alone, so that after a crash any node makes the same bytes. */
export const contents = ({ log, payloads, gates }: ContentsDeps): Contents => {
  const answerTo = async (state: RunningBundle, index: number): Promise<StepResult> => {
    const step = state.request.steps[index];
    const came = state.steps[index];
    if (step === undefined || came === undefined || !("outcome" in came) || came.outcome !== "succeeded")
      return NO_ANSWER;
    return answeredBody(log, step.event_id, came.payload.revision);
  };

  const withResults = async (state: RunningBundle, payload: Json) => {
    const answers = new Map<number, StepResult>();
    for (const { step } of referencesOf(payload).references) {
      if (!answers.has(step)) answers.set(step, await answerTo(state, step));
    }
    return resolveReferences(payload, (step) => answers.get(step) ?? NO_ANSWER);
  };

  return {
    async ofStep(state, index, trace) {
      const { request, approvalId } = state;
      const kept = await payloads.read(request.bundle_id, request.payload);
      if (kept === "damaged")
        return refused(
          "payload-damaged",
          "The bundle's stored payload does not match its hash, so nothing of it was sent",
        );
      if (kept === null)
        return refused("payload-erased", "The bundle's payload was erased before this step was started");
      const payload = (decode(kept.body) as readonly Json[])[index] ?? null;
      if (request.steps[index]?.uses_results !== true) return { body: encode(payload) };
      const made = await withResults(state, payload);
      if (!made.ok)
        return refused("unresolved-result", `${made.path === "" ? "The payload" : made.path}: ${made.detail}`);
      const isApproved = approvalId !== null;
      const body = encode(made.payload);
      // A few references can expand a small payload into a very large one, so the limit of a direct request applies.
      if (body.length > API_BODY_BYTES_MAX) {
        return refused(
          "payload-too-large",
          `With its results it has ${body.length} bytes, of at most ${API_BODY_BYTES_MAX}`,
        );
      }
      const { headers } = kept;
      const refusal = await gates({ request, index, payload: made.payload, headers, isApproved, trace });
      return refusal === null ? { body } : { refusal };
    },

    async ofUndo(state, index) {
      const { event_id }: Partial<Step> = state.request.steps[index] ?? {};
      const sent = startOf(state.steps[index])?.payload ?? null;
      const kept = event_id === undefined || sent === null ? null : await payloads.read(event_id, sent);
      const result = await answerTo(state, index);
      return encode({
        // Without the payload, the target still recognizes the step by its webhook-id.
        payload: kept === null || kept === "damaged" ? null : decode(kept.body),
        result: "body" in result ? result.body : null,
        forward_webhook_id: event_id ?? null,
      });
    },
  };
};
