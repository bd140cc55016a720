import type { SkipCount, SkipReason } from "../domain/replay/skips.ts";

/** In the order in which they are shown. The compiler refuses a list that lacks a reason. */
const REASONS: Readonly<Record<SkipReason, true>> = {
  "bundle-step": true,
  "payload-erased": true,
  "payload-not-kept": true,
  "payload-damaged": true,
  "endpoint-deleted": true,
  "endpoint-disabled": true,
  "source-deleted": true,
  "source-paused": true,
  "agent-deleted": true,
  "agent-suspended": true,
  "action-unknown": true,
  "action-changed": true,
  "approval-needed": true,
  "refused-by-policy": true,
  "replayed-too-often": true,
  changed: true,
  error: true,
};

// The compiler types keys as plain strings.
export const SKIP_REASONS = Object.keys(REASONS) as readonly SkipReason[];

export const countIn = (counts: readonly Pick<SkipCount, "count">[]): number =>
  counts.reduce((sum, { count }) => sum + count, 0);

/** One entry for each reason, in one order, so that equal counts are equal lists. */
export const sumOfSkips = (counts: readonly SkipCount[]): readonly SkipCount[] =>
  SKIP_REASONS.map((reason) => ({ reason, count: countIn(counts.filter((it) => it.reason === reason)) })).filter(
    ({ count }) => count > 0,
  );
