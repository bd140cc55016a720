import type { SendOutcome } from "../ports/sender.ts";
import type { Failure } from "./events.ts";

/** Null: delivered. The status decides, whatever became of the answer's body. */
export const failureOf = (sent: SendOutcome): Failure | null => {
  if (sent.outcome === "failed") return { kind: sent.kind, detail: sent.detail };
  const { statusCode } = sent;
  if (statusCode >= 200 && statusCode < 300) return null;
  const kind = statusCode < 400 ? "redirect" : statusCode < 500 ? "http-4xx" : "http-5xx";
  // Where a redirect leads may repeat the payload, also in a host's name. It stays in the answer's Location header, which is
  // hidden and erased with the answer, while this detail is in a record for good.
  const redirect = kind === "redirect" ? "; redirects are not followed" : "";
  return { kind, detail: `The receiver answered ${statusCode}${redirect}` };
};
