import { type AnswerOf, call } from "../api/api.ts";
import { useAnswer } from "../shell/use-answer.ts";

type Choices = readonly { readonly value: string; readonly word: string }[];

const MOST = 100;

const chosen = (all: readonly { readonly id: string; readonly name: string }[] | undefined): Choices =>
  (all ?? []).map(({ id, name }) => ({ value: id, word: name }));

/** The account's policies, with "none" first; null while they are read. */
export const usePolicyChoices = (): Choices | null => {
  const read = useAnswer<AnswerOf<"GET /v1/policies">>({ key: "policies", on: { topic: "policies", id: null } }, () =>
    call("GET /v1/policies", { query: { limit: MOST } }),
  );
  if (read.body === null && read.problem === null) return null;
  return [{ value: "", word: "No policy" }, ...chosen(read.body?.data)];
};

/** The account's endpoints; null while they are read. */
export const useEndpointChoices = (): Choices | null => {
  const read = useAnswer<AnswerOf<"GET /v1/endpoints">>(
    { key: "endpoints", on: { topic: "endpoints", id: null } },
    () => call("GET /v1/endpoints", { query: { limit: MOST } }),
  );
  if (read.body === null && read.problem === null) return null;
  return chosen(read.body?.data);
};
