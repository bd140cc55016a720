import type { AttemptEnd } from "./attempt-end.ts";

/** The receiver asks not to be called again (RFC 9110, section 15.5.11). */
const GONE = 410;

/** A delivery that is answered with this status is not retried. */
export const isGone = (statusCode: number | null): boolean => statusCode === GONE;

/** True if the endpoint is to be disabled: not if the attempt went to a target that the endpoint has left since. */
export const isEndpointGone = ({ status_code, elsewhere }: Pick<AttemptEnd, "status_code" | "elsewhere">): boolean =>
  isGone(status_code) && elsewhere !== true;
