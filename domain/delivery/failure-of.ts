import type { Sent } from "../ports.ts";
import type { Failure } from "./events.ts";

/** Which host it points to, where it says one: the rest may repeat the payload, and a record is never erased. */
const redirectTo = (location: string | undefined): string => {
  const [origin] = /^https?:\/\/[^/?#]{1,255}/i.exec(location ?? "") ?? [];
  return origin === undefined ? "" : ` to ${origin.replace(/\/\/.*@/, "//")}`;
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
