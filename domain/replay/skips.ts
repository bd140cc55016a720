/** Why a bulk replay passes over an event. */
export type SkipReason =
  | "bundle-step"
  | "payload-erased"
  | "payload-not-kept"
  | "payload-damaged"
  | "endpoint-deleted"
  | "endpoint-disabled"
  | "source-deleted"
  | "source-paused"
  | "agent-deleted"
  | "agent-suspended"
  | "action-unknown"
  | "action-changed"
  | "approval-needed"
  | "refused-by-policy"
  | "replayed-too-often"
  | "changed"
  | "error";

export type SkipCount = { readonly reason: SkipReason; readonly count: number };
