import type { AnswerOf } from "../api/api.ts";

export type Rejection = AnswerOf<"GET /v1/sources/{id}/rejections">["data"][number];

/** Why a request's signature was refused, and what to do. */
export const REFUSALS: Readonly<Record<Rejection["reason"], { readonly why: string; readonly todo: string }>> = {
  missing: {
    why: "it has no signature",
    todo: "Set the secret at the provider, so that it signs what it sends.",
  },
  malformed: {
    why: "its signature cannot be read",
    todo: "Compare the header and the encoding of the signature with those of this source.",
  },
  mismatch: {
    why: "its signature matches none of this source's secrets",
    todo: "Copy the secret again from the provider's page for this address.",
  },
  stale: {
    why: "its time is too old or too new",
    todo: "Compare the clocks, or let the provider send it again.",
  },
  "unknown-secret": {
    why: "it names a secret that this source does not have",
    todo: "Copy the secret again from the provider's page for this address.",
  },
};

/** The same in sentences. */
export const refusalText = (reason: Rejection["reason"]): string => {
  const { why, todo } = REFUSALS[reason];
  return `${why.charAt(0).toUpperCase()}${why.slice(1)}. ${todo}`;
};
