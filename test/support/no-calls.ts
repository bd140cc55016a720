import type { CountedCalls } from "../../src/calls/counted-calls.ts";

/** Records no calls, for tests that are about something else. */
export const NO_CALLS: CountedCalls = {
  refused: () => undefined,
  requestRefused: () => undefined,
  stranger: () => undefined,
  payloadRead: () => undefined,
  replayTried: () => undefined,
};
