import { timingSafeEqual } from "node:crypto";
import type { ProviderType } from "../../domain/source/events.ts";
import { isTimestamp } from "./decode.ts";
import { PROVIDERS } from "./provider-schemes.ts";
import {
  failure,
  type Proof,
  type SignatureFailure,
  type SourceAuth,
  type Verified,
  type WebhookRequest,
} from "./request.ts";

/** Seconds by which the sender's clock may differ, in both directions. Paddle's own 5 s fail on ordinary clock skew. */
const WINDOW_S = 300;

const VERIFIED: Verified = { ok: true };

const inWindow = (timestamp: string, nowMs: number): SignatureFailure | null => {
  if (!isTimestamp(timestamp)) return failure("malformed", "The timestamp is not a number of seconds.");
  const ageS = Math.floor(nowMs / 1000) - Number(timestamp);
  if (Math.abs(ageS) <= WINDOW_S) return null;
  const where = ageS > 0 ? `${ageS} s old` : `${-ageS} s in the future`;
  return failure("stale", `The timestamp is ${where}, ${WINDOW_S} s are allowed.`);
};

const holds = ({ given, expected }: Proof, secrets: readonly string[]): SignatureFailure | null => {
  let tried = 0;
  for (const secret of secrets) {
    const wanted = expected(secret);
    if (wanted === null) continue;
    tried += 1;
    if (given.some((one) => timingSafeEqual(one, wanted))) return null;
  }
  return tried === 0
    ? failure("unknown-secret", "The source has no secret for a signature of this kind.")
    : failure("mismatch", "The signature matches none of the source's secrets.");
};

/** Never throws, whatever was sent. Cheap checks come first, so that garbage costs no HMAC. */
export const verify = (
  type: ProviderType,
  request: WebhookRequest,
  source: SourceAuth,
  nowMs: number,
): Verified | SignatureFailure => {
  if (source.secrets.length === 0) return failure("unknown-secret", "The source has no secret.");
  const claim = PROVIDERS[type].scheme(request, source);
  if (!claim.ok) return claim;
  const outside = claim.timestamp === null ? null : inWindow(claim.timestamp, nowMs);
  if (outside !== null) return outside;
  for (const proof of claim.proofs) {
    const failed = holds(proof, source.secrets);
    if (failed !== null) return failed;
  }
  return claim.furtherFailure?.(request) ?? VERIFIED;
};
