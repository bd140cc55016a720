import type { Json, JsonObject } from "../../domain/json.ts";
import { answerRedaction, type RedactionSource, searchLimit } from "../redaction/answer-redaction.ts";
import { redactText } from "../redaction/redact-text.ts";
import type { Result } from "./result.ts";

export type ResultsOrder = {
  readonly results: readonly (Result | null)[];
  readonly hidings: readonly (RedactionSource | null)[];
};

/** A result that is not JSON is hidden as a whole if any field of the payload is hidden. */
export const visibleResults = ({ results, hidings }: ResultsOrder): readonly (JsonObject | null)[] => {
  const limited = searchLimit();
  return results.map((result, index) => {
    const hidden = answerRedaction(hidings[index] ?? null);
    if (result === null || hidden === null || result.body === null) return result;
    const text = typeof result.body === "object" ? JSON.stringify(result.body) : null;
    const { paths, echo } = limited(hidden, text?.length ?? 0) ?? hidden;
    const shown = text !== null && echo !== null ? redactText(text, paths, echo) : null;
    return { ...result, body: shown === null ? null : (JSON.parse(shown) as Json) }; // JSON.parse returns nothing else.
  });
};
