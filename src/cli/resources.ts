export type Act = "list" | "show" | "create" | "update" | "delete";

export type Resource = {
  readonly name: string;
  /** The thing in the singular, for sentences. */
  readonly one: string;
  readonly path: string;
  readonly acts: readonly Act[];
  /** The fields that a list shows; a dot leads into an object, and `a|b` shows b where a is null. */
  readonly columns: readonly string[];
  /** Query parameters of the list that are options of the command, beside those of paging. */
  readonly filters?: readonly string[];
  /** PATCH changes what the body names, PUT replaces all. */
  readonly update?: "PATCH" | "PUT";
  /** The path of `create`, if it differs from the list's. */
  readonly createPath?: string;
  /** Bodies that `create` and `update` take, for their help. */
  readonly example?: { readonly create?: string; readonly update?: string };
  /** The field of an answer that is a secret and shown this once. */
  readonly secret?: string;
  /** How its ids begin, and the field by which one may be named instead; left out if it has no name, or no id. */
  readonly named?: { readonly prefix: string; readonly by: "name" | "email" };
  /** The lowest role that the commands need. Without a text any role may read, and admin may change. */
  readonly rights?: string;
};

const ALL: readonly Act[] = ["list", "show", "create", "update", "delete"];

export const RESOURCES: readonly Resource[] = [
  {
    name: "sources",
    one: "source",
    path: "/v1/sources",
    named: { prefix: "src_", by: "name" },
    acts: ALL,
    update: "PATCH",
    columns: ["id", "name", "type", "status", "endpoint_id", "policy_id"],
    example: { create: '{"name": "shop", "type": "stripe"}', update: '{"status": "paused"}' },
    secret: "secret",
  },
  {
    name: "endpoints",
    one: "endpoint",
    path: "/v1/endpoints",
    named: { prefix: "end_", by: "name" },
    acts: ALL,
    update: "PATCH",
    columns: ["id", "name", "health.state", "url"],
    example: { create: '{"name": "app", "url": "https://app.example/hooks"}', update: '{"timeout_ms": 5000}' },
    secret: "signing_secret",
  },
  {
    name: "policies",
    one: "policy",
    path: "/v1/policies",
    named: { prefix: "pol_", by: "name" },
    acts: ["list", "show", "create", "update"],
    update: "PUT",
    columns: ["id", "name", "version", "created_at"],
    example: {
      create: '{"name": "payments", "rate_per_minute": 60}',
      update: '{"name": "payments", "rate_per_minute": 30}',
    },
  },
  {
    name: "agents",
    one: "agent",
    path: "/v1/agents",
    named: { prefix: "agt_", by: "name" },
    acts: ALL,
    update: "PATCH",
    columns: ["id", "name", "status", "policy_id"],
    example: { create: '{"name": "support", "scope": {"actions": ["refund.*"]}}', update: '{"policy_id": "pol_…"}' },
    secret: "key",
  },
  {
    name: "actions",
    one: "action",
    path: "/v1/actions",
    acts: ["list", "show", "update", "delete"],
    update: "PUT",
    columns: ["name", "version", "reversibility", "endpoint_id"],
    example: { update: '{"endpoint_id": "end_…", "reversibility": "irreversible"}' },
  },
  {
    name: "keys",
    one: "key",
    path: "/v1/api-keys",
    named: { prefix: "key_", by: "name" },
    acts: ["list", "create", "delete"],
    columns: ["id", "name", "role", "last4", "status", "expires_at", "last_used_at"],
    example: { create: '{"name": "deploy", "role": "viewer"}' },
    secret: "key",
    rights: "This needs a person with the role admin: countersign login.",
  },
  {
    name: "members",
    one: "member",
    path: "/v1/members",
    named: { prefix: "mem_", by: "email" },
    acts: ["list", "create", "update", "delete"],
    createPath: "/v1/members/invitations",
    update: "PATCH",
    columns: ["id", "email", "role", "state", "last_sign_in_at"],
    example: { create: '{"email": "ana@example.com", "role": "approver"}', update: '{"role": "auditor"}' },
    secret: "invitation_url",
    rights: "This needs a person with the role owner: countersign login.",
  },
  {
    name: "approvals",
    one: "approval",
    path: "/v1/approvals",
    acts: ["list"],
    columns: ["id", "status", "expires_at", "cost_eur", "title|summary"],
    filters: ["status", "for"],
  },
  {
    name: "bundles",
    one: "bundle",
    path: "/v1/bundles",
    acts: ["list", "show"],
    columns: ["id", "status", "name", "created_at"],
    filters: ["status"],
  },
  {
    name: "events",
    one: "event",
    path: "/v1/events",
    acts: ["list"],
    columns: ["id", "status", "type", "sample", "received_at"],
    filters: ["status", "source_id", "agent_id", "endpoint_id", "action", "q", "from", "to"],
  },
  {
    name: "replays",
    one: "replay",
    path: "/v1/replays",
    acts: ["list", "show"],
    columns: ["id", "status", "total", "done", "delivered", "failed", "skipped"],
    filters: ["status"],
  },
];
