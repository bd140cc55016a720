import { createHash } from "node:crypto";
import type { BundleRequest, Compensation, Step } from "../../domain/bundle/events.ts";
import { defined } from "../../domain/defined.ts";
import type { Bound, Request } from "../../domain/delivery/events.ts";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import type { Json } from "../../domain/json.ts";
import { derivedId } from "../../infra/crypto/ids.ts";

const APPROVAL_ID = /^apr_[a-z2-7]{32}$/;

export const isApprovalId = (text: string): boolean => APPROVAL_ID.test(text);

/** An event has one approval id for its first hold, and another for each replay that is held. */
export const approvalIdOf = (account: string, eventId: string, replayId?: string): string =>
  replayId === undefined ? derivedId("apr_", account, eventId) : derivedId("apr_", account, eventId, replayId);

/** The id is derived, so that all nodes that find an approval void name the same successor. */
export const nextApprovalId = (account: string, approvalId: string): string => derivedId("apr_", account, approvalId);

export const approvalStream = (approvalId: string): string => `approval-${approvalId}`;

/** Hex SHA-256 over canonical JSON (RFC 8785). */
const digestOf = (value: Json): string => createHash("sha256").update(canonicalJson(value)).digest("hex");

const boundTo = ({ target, action_version, title }: Bound = { target: null, action_version: null }): Json => ({
  action_version,
  target,
  ...defined({ title }),
});

type Approved = Pick<Request, "origin" | "payload" | "endpoint_id" | "action" | "bound">;

/**
 * The payload enters by its salted commitment, because a plain digest of a short payload could be guessed. Unlike
 * `actionDigest`, which finds repetitions, this digest changes with the target.
 */
export const eventDigest = (account: string, { origin, payload, endpoint_id, action, bound }: Approved): string =>
  digestOf({
    account,
    sender: { kind: origin.kind, id: origin.id },
    payload: payload.commitment,
    endpoint_id,
    action: action === undefined ? null : { name: action.name, version: action.version },
    bound: boundTo(bound),
  });

type ApprovedBundle = Pick<BundleRequest, "origin" | "payload"> & {
  readonly steps: readonly Pick<Step, "index" | "action" | "endpoint_id" | "compensation" | "bound">[];
};

const undoOf = ({ name, version, endpoint_id, bound }: Compensation): Json => ({
  name,
  version,
  endpoint_id,
  bound: boundTo(bound),
});

export const bundleApprovalDigest = (account: string, { origin, payload, steps }: ApprovedBundle): string =>
  digestOf({
    account,
    sender: { kind: origin.kind, id: origin.id },
    payload: payload.commitment,
    steps: steps.map(({ index, action: { name, version }, endpoint_id, compensation, bound }) => ({
      position: { index, of: steps.length },
      action: { name, version },
      endpoint_id,
      bound: boundTo(bound),
      undo: compensation === null ? null : undoOf(compensation),
    })),
  });
