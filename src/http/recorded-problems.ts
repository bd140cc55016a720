import type { ProblemCode } from "../streams/problems.ts";

type Recorded = "recorded" | { readonly because: string };

const NOT_UNDERSTOOD: Recorded = { because: "The request is not well-formed: nothing was decided." };
const NOT_VALID: Recorded = { because: "What was sent breaks a rule of its form: nothing was decided." };
const NOTHING_THERE: Recorded = {
  because: "There is nothing at this address for this credential. Only a one-time link that opens nothing is recorded.",
};
const NOT_ABLE: Recorded = { because: "The service could not answer: nothing was decided." };
const NOT_DECIDED: Recorded = { because: "The person has not decided yet, and the command line asks again and again." };
const BLOCKED: Recorded = { because: "EventBlocked or BundleBlocked is the record." };

const RECORDED: Readonly<Record<ProblemCode, Recorded>> = {
  "authorization-pending": NOT_DECIDED,
  "slow-down": NOT_DECIDED,
  "access-denied": { because: "DeviceLoginDenied is the record." },
  "expired-token": NOTHING_THERE,
  "invalid-request": NOT_UNDERSTOOD,
  "mixed-credentials": NOT_UNDERSTOOD,
  "method-not-allowed": NOT_UNDERSTOOD,
  "too-large": NOT_UNDERSTOOD,
  "unsupported-media-type": NOT_UNDERSTOOD,
  "headers-too-large": NOT_UNDERSTOOD,
  "weak-password": NOT_VALID,
  "unknown-provider": NOT_VALID,
  "unknown-event-type": NOT_VALID,
  "invalid-policy": NOT_VALID,
  "invalid-action": NOT_VALID,
  "invalid-bundle": NOT_VALID,
  "irreversible-not-last": NOT_VALID,
  "no-compensation": NOT_VALID,
  "not-found": NOTHING_THERE,
  "request-timeout": NOT_ABLE,
  internal: NOT_ABLE,
  overloaded: NOT_ABLE,
  unavailable: NOT_ABLE,
  "view-behind": NOT_ABLE,
  "not-sealed": NOT_ABLE,
  "not-witnessed": NOT_ABLE,
  "payload-damaged": { because: "PayloadDamageFound or BundleDamageFound is the record." },
  "invalid-signature": { because: "SourceRejectsCounted or StrangersRefused is the record." },
  "delivery-id-reused": { because: "DeliveryIdReused is the record." },
  "gate-require-fields": BLOCKED,
  "gate-content": BLOCKED,
  "gate-schema": BLOCKED,
  "gate-rate": BLOCKED,
  "gate-budget": BLOCKED,
  "gate-loop": BLOCKED,
  "gate-quota": BLOCKED,
  "cost-unknown": BLOCKED,
  unauthenticated: "recorded",
  "invalid-credentials": "recorded",
  forbidden: "recorded",
  "self-approval": "recorded",
  "cross-site": "recorded",
  "agent-suspended": "recorded",
  "out-of-scope": "recorded",
  "plan-limit": "recorded",
  "limit-reached": "recorded",
  "person-required": "recorded",
  "unknown-action": "recorded",
  "email-taken": "recorded",
  "signup-closed": "recorded",
  "in-progress": "recorded",
  "source-paused": "recorded",
  "endpoint-in-use": "recorded",
  "policy-in-use": "recorded",
  "digest-mismatch": "recorded",
  "already-decided": "recorded",
  expired: "recorded",
  "already-delivered": "recorded",
  "payload-not-kept": "recorded",
  "endpoint-disabled": "recorded",
  conflict: "recorded",
  "address-not-allowed": "recorded",
  "idempotency-key-reused": "recorded",
  "rate-limited": "recorded",
  "too-few-approvers": "recorded",
};

/** Refusals that decide who may read, so they are recorded even for reads. Other refusals of reads are not recorded. */
const OF_READS: ReadonlySet<ProblemCode> = new Set(["unauthenticated", "forbidden", "rate-limited"]);

const READ = "Reading changes nothing, and what there is to read is no decision.";

export const whyUnrecorded = (isRead: boolean, code: ProblemCode): string | null => {
  const recorded = RECORDED[code];
  if (recorded !== "recorded") return recorded.because;
  return isRead && !OF_READS.has(code) ? READ : null;
};

/** Problems answered before the path's id is looked up: it may be unknown or another account's, and is not recorded. */
const BEFORE_LOOK_UP: ReadonlySet<ProblemCode> = new Set([
  "unauthenticated",
  "forbidden",
  "cross-site",
  "person-required",
  "rate-limited",
  "idempotency-key-reused",
  "in-progress",
]);

export const isTargetKnown = (code: ProblemCode): boolean => !BEFORE_LOOK_UP.has(code);
