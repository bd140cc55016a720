import type { CallCounts } from "../../src/calls/call-counts.ts";

/** Records no calls, for tests that are about something else. */
export const NO_CALLS: CallCounts = {
  refused: () => undefined,
  requestRefused: () => undefined,
  stranger: () => undefined,
  payloadRead: () => undefined,
  replayTried: () => undefined,
};
