import type { ShownChange } from "../../../domain/change/shown-change.ts";
import { APPROVAL_STATUSES } from "../../../projections/schemas/approvals.ts";
import { integer, nonBlank, nullable, nullableTime, object, text, time } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import type { JsonSchema } from "../../http/route.ts";
import { APPROVAL_TARGET } from "./approval-target.ts";

const COMMENT_LENGTH_MAX = 1_000;
/** A digest has 64 characters. A text that is longer, up to this length, is answered as a wrong digest. */
const DIGEST_LENGTH_MAX = 128;

const EXAMPLE_DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

const DIGEST = {
  type: "string",
  minLength: 1,
  maxLength: DIGEST_LENGTH_MAX,
  description: "`digest` of the approval as it was shown",
} as const satisfies JsonSchema;

const SHOWN_DIGEST = {
  ...DIGEST,
  description: "`shown_digest` of the approval as you read it; if left out, the record says 'not stated'",
} as const satisfies JsonSchema;

export const APPROVE_BODY = named("ApprovingVote", {
  type: "object",
  required: ["digest"],
  additionalProperties: false,
  properties: {
    digest: DIGEST,
    shown_digest: SHOWN_DIGEST,
    comment: { type: "string", maxLength: COMMENT_LENGTH_MAX },
  },
  examples: [{ digest: EXAMPLE_DIGEST, comment: "Checked with the customer" }],
});

export const REJECT_BODY = named("RejectingVote", {
  type: "object",
  required: ["digest", "comment"],
  additionalProperties: false,
  properties: {
    digest: DIGEST,
    shown_digest: SHOWN_DIGEST,
    comment: { ...nonBlank(COMMENT_LENGTH_MAX), description: "Why" },
  },
  examples: [{ digest: EXAMPLE_DIGEST, comment: "The charge was refunded yesterday" }],
});

const REQUESTER: JsonSchema = named("Requester", {
  type: "object",
  required: ["kind", "id", "name"],
  properties: {
    kind: { enum: ["source", "agent"] },
    id: text,
    name: text,
    member: { type: "string", description: "Who replayed it" },
  },
});

const VOTE = named(
  "Vote",
  object({
    member_id: text,
    email: text,
    decision: { enum: ["approve", "reject"] },
    comment: nullable("string"),
    shown: {
      ...named(
        "ShownForm",
        object({ form: { enum: ["full", "redacted", "not stated"] }, hidden: { type: "array", items: text } }),
      ),
      description: "Which form the voter was shown, and the JSON Pointers of the fields that were hidden in it",
    },
    shown_digest: { type: ["string", "null"], description: "Of that form; null: the vote did not state it" },
    at: time,
  }),
);

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
    description: "Hex SHA-256 of the request and its target: send it back with the decision",
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
      "Ids of the members who count as the requester: the person who replayed it, and those who created the key or the " +
      "secret that it was sent with, also by an API key",
  },
  policy: { ...object(POLICY), type: ["object", "null"] },
  reasons: { type: "array", items: text },
  votes: { type: "array", items: VOTE },
  decided_at: nullableTime,
  reason: { type: ["string", "null"], description: "Why it was rejected or cancelled, or became void" },
  replaces: {
    type: ["string", "null"],
    description: "The earlier approval, which became void or was used",
  },
  replaced_by: { type: ["string", "null"], description: "If this one is void, the approval requested instead" },
} satisfies Record<string, JsonSchema>;

/** Members that only approvals of changes have. */
const ofChange = {
  change_id: { type: "string", description: "Of a held change of a control, chg_…; absent for a request" },
  change: {
    ...named(
      "ShownChange",
      object<ShownChange>({ target: named("ControlPart", object({ kind: text, id: text })), before: {}, after: {} }),
    ),
    description: "The part to be changed, before and after it; null where it does not exist then; absent for a request",
  },
} satisfies Record<string, JsonSchema>;

const TITLE = {
  type: "string",
  description:
    "The sentence that is decided, if `titles` asks for it; what a policy hides from viewers is hidden in it. Of a bundle: " +
    "what is asked for, in how many steps, and which of them cannot be undone",
} satisfies JsonSchema;

export const APPROVAL: JsonSchema = named(
  "ApprovalSummary",
  object({ ...summary, ...ofChange, title: TITLE }, Object.keys(summary)),
);
const detail = {
  ...summary,
  policy: {
    ...named(
      "HoldingPolicy",
      object({ ...POLICY, newest_version: { type: "integer", description: "In force now; it changes nothing here" } }),
    ),
    type: ["object", "null"],
  },
  endpoint: APPROVAL_TARGET,
  title: {
    type: ["string", "null"],
    description:
      "The sentence that is decided, from the action's template and the payload; hidden fields are hidden in it. Null: the " +
      "action has no template, or the payload is gone; each step of a bundle has its own in `payload`",
  },
  payload: {
    description:
      "The payload to be sent: JSON as it is, anything else as text or base64; null for none. For a bundle its steps: " +
      "[{index, action, title, payload, endpoint, cost_eur, reversibility, compensation: {action, endpoint} or null}]",
  },
  can_decide: {
    type: "array",
    items: text,
    description: "Ids of the members whose approval would count at this moment; empty once it is decided",
  },
  hand_overs: {
    type: "array",
    items: named("HandOver", object({ member_id: text, link: { enum: ["invitation", "reset"] }, by: text, at: time })),
    description:
      "Voters who, in the 7 days before their vote, used an invitation or a reset link made by a requester or another " +
      "voter, who could have used the link themselves",
  },
  outcome: {
    ...named("HoldOutcome", object({ status: text, reason: nullable("string") })),
    description: "The status of the event or bundle and, if it was cancelled, the reason",
  },
  payload_format: {
    enum: ["json", "text", "base64", null],
    description: "Null: erased, damaged, or hidden as a whole",
  },
  redacted: { type: "boolean", description: "The policy hides fields from the reader" },
  hidden: { type: "array", items: text, description: 'JSON Pointers of those fields; "" is the whole payload' },
  shown_digest: {
    type: "string",
    description: "Hex SHA-256 of this form of the approval, with the payload's salt: send it back with the decision",
  },
};
export const APPROVAL_DETAIL: JsonSchema = named(
  "Approval",
  object(
    {
      ...detail,
      ...ofChange,
      payload_damaged: {
        type: "boolean",
        description: "True if the stored payload does not match its hash: it is not shown, and approving is refused",
      },
    },
    Object.keys(detail),
  ),
);
