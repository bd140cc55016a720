import { APPROVAL_STATUSES } from "../../../projections/schemas/approvals.ts";
import { integer, nonBlank, nullable, nullableTime, object, text, time } from "../../http/json-schema.ts";
import type { JsonSchema } from "../../http/route.ts";
import { APPROVAL_TARGET } from "./approval-target.ts";

const COMMENT_LENGTH_MAX = 1_000;
/** A digest is 64 characters; whatever else is sent is another digest. */
const DIGEST_LENGTH_MAX = 128;

const DIGEST = {
  type: "string",
  minLength: 1,
  maxLength: DIGEST_LENGTH_MAX,
  description: "`digest` of the approval as it was shown",
} as const satisfies JsonSchema;

const SHOWN_DIGEST = {
  ...DIGEST,
  description:
    "`shown_digest` of the approval as it was shown to you; left out, the record says that it was not stated",
} as const satisfies JsonSchema;

export const APPROVE_BODY = {
  type: "object",
  required: ["digest"],
  additionalProperties: false,
  properties: {
    digest: DIGEST,
    shown_digest: SHOWN_DIGEST,
    comment: { type: "string", maxLength: COMMENT_LENGTH_MAX },
  },
} as const satisfies JsonSchema;

export const REJECT_BODY = {
  type: "object",
  required: ["digest", "comment"],
  additionalProperties: false,
  properties: {
    digest: DIGEST,
    shown_digest: SHOWN_DIGEST,
    comment: { ...nonBlank(COMMENT_LENGTH_MAX), description: "Why" },
  },
} as const satisfies JsonSchema;

const REQUESTER: JsonSchema = {
  type: "object",
  required: ["kind", "id", "name"],
  properties: {
    kind: { enum: ["source", "agent"] },
    id: text,
    name: text,
    member: { type: "string", description: "Who replayed it" },
  },
};

const VOTE = object({
  member_id: text,
  email: text,
  decision: { enum: ["approve", "reject"] },
  comment: nullable("string"),
  shown: {
    ...object({ form: { enum: ["full", "redacted", "not stated"] }, hidden: { type: "array", items: text } }),
    description: "Which form the voter was shown, and the JSON Pointers of the fields that were hidden in it",
  },
  shown_digest: { type: ["string", "null"], description: "Of that form; null: the vote did not state it" },
  at: time,
});

const POLICY = { id: text, version: { type: "integer", description: "The version that it was held under" } };

const summary = {
  id: text,
  status: {
    enum: APPROVAL_STATUSES,
    description: "approved: not begun yet; consumed: released, once; void: what it was bound to has changed",
  },
  event_id: nullable("string"),
  bundle_id: nullable("string"),
  action: { type: ["string", "null"], description: "The action's name; of a source's event its type" },
  summary: { type: "string", description: "One line for people" },
  digest: {
    type: "string",
    description: "Hex SHA-256 of what would be executed and where it would be sent: sent back with the decision",
  },
  cost_eur: nullable("number"),
  requested_by: REQUESTER,
  requested_at: time,
  expires_at: time,
  min_approvals: integer,
  exclude_requester: { type: "boolean" },
  requesters: {
    type: "array",
    items: text,
    description:
      "Ids of the members who count as the requester: who replays it, and who made the key or secret it was sent with, by " +
      "hand or with keys of theirs",
  },
  policy: { ...object(POLICY), type: ["object", "null"] },
  reasons: { type: "array", items: text },
  votes: { type: "array", items: VOTE },
  decided_at: nullableTime,
  reason: { type: ["string", "null"], description: "Why it was rejected or cancelled, or became void" },
  replaces: {
    type: ["string", "null"],
    description: "The approval that was asked for before, which became void or was used",
  },
  replaced_by: { type: ["string", "null"], description: "Of a void one, the approval that was asked for instead" },
} satisfies Record<string, JsonSchema>;

export const APPROVAL: JsonSchema = object(summary);
const detail = {
  ...summary,
  policy: {
    ...object({ ...POLICY, newest_version: { type: "integer", description: "In force now; it changes nothing here" } }),
    type: ["object", "null"],
  },
  endpoint: APPROVAL_TARGET,
  payload: {
    description:
      "What would be executed: JSON as it is, anything else as text or base64; null for none. Of a bundle its steps: " +
      "[{index, action, payload, endpoint, cost_eur, reversibility, compensation: {action, endpoint} or null}]",
  },
  can_decide: {
    type: "array",
    items: text,
    description: "Ids of the members whose approval would count at this moment; empty once it is decided",
  },
  hand_overs: {
    type: "array",
    items: object({ member_id: text, link: { enum: ["invitation", "reset"] }, by: text, at: time }),
    description:
      "Voters who used an invitation or a reset link in the 7 days before their vote that a requester or another voter " +
      "had made: the maker of a link may have used it",
  },
  outcome: {
    ...object({ status: text, reason: nullable("string") }),
    description:
      "What has become of the request so far: the status of its event or its bundle, and why it was cancelled if it was",
  },
  payload_format: {
    enum: ["json", "text", "base64", null],
    description: "Null: erased, damaged, or hidden as a whole",
  },
  redacted: { type: "boolean", description: "The policy hides fields from the reader" },
  hidden: { type: "array", items: text, description: 'JSON Pointers of those fields; "" is the whole payload' },
  shown_digest: {
    type: "string",
    description: "Hex SHA-256 of this form of the approval, with the payload's salt: sent back with the decision",
  },
};
export const APPROVAL_DETAIL: JsonSchema = object(
  {
    ...detail,
    payload_damaged: {
      type: "boolean",
      description: "True if the stored payload does not match its hash: it is not shown, and approving is refused",
    },
  },
  Object.keys(detail),
);
