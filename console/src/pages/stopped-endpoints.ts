import { type AnswerOf, call } from "../api/api.ts";
import { NOT_ASKED, useAnswer } from "../shell/use-answer.ts";
import { isStopped, type Stopped } from "./endpoint-text.ts";

/** As many endpoints as one answer has; of further ones it is not known whether they are stopped. */
const MOST = 100;
const ON_ENDPOINTS = { topic: "endpoints", id: null } as const;

type Endpoints = AnswerOf<"GET /v1/endpoints">;

/** The endpoints to which nothing is sent at present, by id; they are asked for only where something waits. */
export const useStopped = (isAsked: boolean): ((endpoint: string | null | undefined) => Stopped | null) => {
  const shown = useAnswer<Endpoints | null>({ key: `stopped ${isAsked}`, on: ON_ENDPOINTS }, () =>
    isAsked ? call("GET /v1/endpoints", { query: { limit: MOST } }) : Promise.resolve(NOT_ASKED),
  );
  const stopped = (shown.body?.data ?? []).filter(isStopped);
  return (id) => stopped.find((it) => it.id === id) ?? null;
};
