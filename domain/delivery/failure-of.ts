import type { SendOutcome } from "../ports/sender.ts";
import type { Failure } from "./attempt-end.ts";

/** Null for a success. The status decides, even if the answer's body breaks off. */
export const failureOf = (sent: SendOutcome): Failure | null => {
  if (sent.outcome === "failed") return { kind: sent.kind, detail: sent.detail };
  const { statusCode } = sent;
  if (statusCode >= 200 && statusCode < 300) return null;
  const kind = statusCode < 400 ? "redirect" : statusCode < 500 ? "http-4xx" : "http-5xx";
  // A redirect's location may repeat the payload, which is erased one day, so it is left out of this lasting detail.
  const redirect = kind === "redirect" ? "; redirects are not followed" : "";
  return { kind, detail: `The receiver answered ${statusCode}${redirect}` };
};
