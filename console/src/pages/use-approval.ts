import { type AnswerOf, call } from "../api/api.ts";
import { NOT_ASKED, useAnswer } from "../shell/use-answer.ts";

export type Approval = AnswerOf<"GET /v1/approvals/{id}">;

/** Null until it was read, and for what needs no approval. */
export const useApproval = (id: string | null): Approval | null =>
  useAnswer<Approval | null>({ key: id ?? "", on: id === null ? null : { topic: "approvals", id } }, async () =>
    id === null ? NOT_ASKED : call("GET /v1/approvals/{id}", { params: { id } }),
  ).body;
