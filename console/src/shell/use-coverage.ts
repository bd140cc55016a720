import { useEffect, useRef, useState } from "preact/hooks";
import { type AnswerOf, call, mayRead } from "../api/api.ts";

export type Coverage = AnswerOf<"GET /v1/audit/coverage">;

type Proven = Pick<AnswerOf<"GET /v1/audit">["data"][number], "index" | "sealed" | "witnessed">;

/** How far a record is proven, by what its list said and by what is known since. */
export const proofOf = ({ index, sealed, witnessed }: Proven, coverage: Coverage | null): string => {
  if (witnessed || index < (coverage?.witnessed ?? 0)) return "witnessed";
  return sealed || index < (coverage?.sealed ?? 0) ? "sealed" : "recorded";
};

/** Records are sealed within two seconds. */
const UNSEALED_MS = 2_000;
/** Witnesses cosign less often, and without unsealed records only the counts in the head change. */
const IDLE_MS = 10_000;

/**
 * How far the records are sealed; null before the first answer. The stream tells nothing of it, so it is asked for again
 * and again, more often while a record that is shown is not sealed, and never while the page is hidden.
 */
export const useCoverage = (newestShown: number): Coverage | null => {
  const [coverage, setCoverage] = useState<Coverage | null>(null);
  const isWaiting = useRef(true);
  isWaiting.current = coverage === null || newestShown >= coverage.sealed;
  useEffect(() => {
    let isGone = false;
    let isAsking = false;
    let at = 0;
    const ask = async (): Promise<void> => {
      isAsking = true;
      at = Date.now();
      const answer = await call("GET /v1/audit/coverage");
      isAsking = false;
      if (answer.ok && !isGone) setCoverage(answer.body);
    };
    void ask();
    const tick = setInterval(() => {
      const isDue = isWaiting.current || Date.now() - at >= IDLE_MS;
      if (isDue && !isAsking && mayRead()) void ask();
    }, UNSEALED_MS);
    return () => {
      isGone = true;
      clearInterval(tick);
    };
  }, []);
  return coverage;
};
