import type { Sent } from "../ports.ts";
import type { Failure } from "./events.ts";

/** A failure's detail is one line in lists and logs. */
const LOCATION_LENGTH_MAX = 200;

/** Where it points to, without what may be a credential: who it is for and what it asks. */
const redirectTo = (location: string | undefined): string => {
  if (location === undefined) return "";
  const [address = ""] = location.split(/[?#]/, 1);
  return ` to ${address.replace(/\/\/[^/]*@/, "//").slice(0, LOCATION_LENGTH_MAX)}`;
};

/** Null: delivered. The status decides, whatever became of the answer's body. */
export const failureOf = (sent: Sent): Failure | null => {
  if (sent.outcome === "failed") return { kind: sent.kind, detail: sent.detail };
  const { statusCode, headers } = sent;
  if (statusCode >= 200 && statusCode < 300) return null;
  const kind = statusCode < 400 ? "redirect" : statusCode < 500 ? "http-4xx" : "http-5xx";
  const redirect = kind === "redirect" ? `${redirectTo(headers.location)}; redirects are not followed` : "";
  return { kind, detail: `The receiver answered ${statusCode}${redirect}` };
};
