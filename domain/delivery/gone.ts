import type { AttemptEnd } from "./attempt-end.ts";

/** The receiver asks not to be called again (RFC 9110, section 15.5.11). */
const GONE = 410;

/** The delivery is not retried. */
export const isGone = (statusCode: number | null): boolean => statusCode === GONE;

/** The endpoint is disabled, unless the attempt went to a target that it has left since. */
export const isEndpointGone = ({ status_code, elsewhere }: Pick<AttemptEnd, "status_code" | "elsewhere">): boolean =>
  isGone(status_code) && elsewhere !== true;
