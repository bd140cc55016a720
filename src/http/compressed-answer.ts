import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Principal } from "./route.ts";
import type { SentAnswer } from "./sent-answer.ts";

const gzipped = promisify(gzip);

/** A shorter answer fits into the first packets of a connection, so it would arrive no earlier. */
const BYTES_MIN = 2_000;
/** The content codings that are refused by a weight of 0 (RFC 9110, section 12.5.3) do not count. */
const TAKES_GZIP = /(^|,)\s*gzip\s*(;\s*q=(0\.0*[1-9]\d*|1(\.0*)?)\s*)?(,|$)/i;

type Asked = {
  readonly method: string;
  readonly principal: Principal | null;
  readonly acceptEncoding: string | undefined;
};

/**
 * Compresses long answers to people, whose lines may be slow. Programs are near their service, and would pay with its time.
 * Only reads are compressed: no secret stands in their answers, so their lengths give none away (BREACH).
 */
export const compressedAnswer = async (
  answer: SentAnswer,
  { method, principal, acceptEncoding = "" }: Asked,
): Promise<SentAnswer> => {
  const { status, headers, body } = answer;
  const isWanted = method === "GET" && principal?.kind === "member" && TAKES_GZIP.test(acceptEncoding);
  if (!isWanted || status !== 200 || typeof body !== "string" || body.length < BYTES_MIN) return answer;
  return {
    status,
    headers: { ...headers, "content-encoding": "gzip", vary: "accept-encoding" },
    body: await gzipped(body),
  };
};
