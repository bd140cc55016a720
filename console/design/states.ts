/** A state is a mark in a colour's role and a word. Shapes differ without colour. */

export type Role = "ok" | "wait" | "refuse" | "fail" | "move" | "mute" | "inked";
export type State = { readonly word: string; readonly mark: string; readonly role: Role };

const state = (word: string, mark: string, role: Role): State => ({ word, mark, role });
const ROLLED_BACK = state("Rolled back", "rolledback", "mute");
const NEEDS_UNDO = state("Needs manual undo", "needsundo", "fail");

/** By the API's value, which is also the value of a filter. */
const STATES: Readonly<Record<string, State>> = {
  delivered: state("Delivered", "delivered", "ok"),
  committed: state("Committed", "delivered", "ok"),
  approved: state("Approved", "delivered", "ok"),
  consumed: state("Approved", "delivered", "ok"),
  applied: state("Applied", "delivered", "ok"),
  allow: state("Allowed", "delivered", "ok"),
  succeeded: state("Succeeded", "delivered", "ok"),
  active: state("Active", "delivered", "ok"),
  held: state("Held", "held", "wait"),
  pending: state("Held", "held", "wait"),
  hold: state("Held", "held", "wait"),
  blocked: state("Refused", "refused", "refuse"),
  deny: state("Refused", "refused", "refuse"),
  rejected: state("Rejected", "rejected", "refuse"),
  failed: state("Failed", "failed", "fail"),
  retrying: state("Retrying", "retrying", "move"),
  delivering: state("Delivering", "delivering", "move"),
  running: state("Running", "delivering", "move"),
  rolling_back: state("Rolling back", "delivering", "move"),
  queued: state("Queued", "queued", "mute"),
  waiting: state("Waiting", "queued", "mute"),
  recorded: state("Recorded only", "recorded", "mute"),
  expired: state("Expired", "expired", "mute"),
  cancelled: state("Cancelled", "cancelled", "mute"),
  void: state("Void", "cancelled", "mute"),
  rolled_back: ROLLED_BACK,
  compensated: state("Undone", "rolledback", "mute"),
  rollback_incomplete: NEEDS_UNDO,
  compensation_failed: NEEDS_UNDO,
  skipped: state("Skipped", "skipped", "mute"),
  unknown: state("Outcome unknown", "unknown", "wait"),
  suspended: state("Suspended", "suspended", "mute"),
  paused: state("Paused", "suspended", "mute"),
  disabled: state("Disabled", "suspended", "mute"),
  erased: state("Payload erased", "erased", "mute"),
  healthy: state("Healthy", "healthy", "ok"),
  degraded: state("Degraded", "degraded", "wait"),
  open: state("Circuit open", "open", "fail"),
};

/** How far a record of the audit is proven. `recorded` means another thing for an event. */
const PROOF_STATES: Readonly<Record<string, State>> = {
  recorded: state("Recorded", "sRecorded", "mute"),
  sealed: state("Sealed", "sSealed", "inked"),
  witnessed: state("Witnessed", "sWitnessed", "inked"),
};

/** A value of a newer service is shown as it is, with the mark of an unknown outcome. */
const stateIn = (states: Readonly<Record<string, State>>, value: string): State =>
  Object.hasOwn(states, value) && states[value] !== undefined ? states[value] : state(value, "unknown", "wait");

export const stateOf = (value: string): State => stateIn(STATES, value);
export const proofStateOf = (value: string): State => stateIn(PROOF_STATES, value);
export const allStates = (): readonly State[] => {
  const all = [...Object.values(STATES), ...Object.values(PROOF_STATES)];
  return all.filter(({ word }, at) => all.findIndex((it) => it.word === word) === at);
};
