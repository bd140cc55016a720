import type { Api } from "../../../build/page-types/api.ts";
import type { CallName } from "../api/api.ts";
import { pathOf, type Query, searchOf } from "../api/call-address.ts";
import { LISTED_KINDS } from "../api/listed-kinds.ts";
import { hasRight, type Right } from "../api/roles.ts";
import { todayQuery } from "../pages/agents-query.ts";
import { queueQuery } from "../pages/approval-query.ts";
import { queryOf as auditQuery } from "../pages/audit-query.ts";
import { queryOf as bundlesQuery } from "../pages/bundle-query.ts";
import { COUNTS_QUERY, queryOf as eventsQuery } from "../pages/event-query.ts";
import { lastDayQuery } from "../pages/last-day-query.ts";
import { BUDGETS_QUERY, ENDPOINTS_QUERY, figuresQueries, spanIn } from "../pages/overview-query.ts";
import { monthStart, usageQuery } from "../pages/usage-query.ts";

type ReadName = Extract<CallName, `GET ${string}`>;
type Asked<Name extends ReadName> = { readonly params?: Api[Name]["params"]; readonly query?: Api[Name]["query"] };

/** With a right, only who has it may ask. */
type FirstRead = { readonly address: string; readonly right: Right | null };

const read = <Name extends ReadName>(name: Name, { params, query }: Asked<Name> = {}): FirstRead => {
  // The description of the API says that they are texts and numbers.
  const path = pathOf(name.slice("GET ".length), (params ?? {}) as Readonly<Record<string, string>>);
  return { address: path + searchOf((query ?? {}) as Query), right: null };
};

const only = (right: Right, it: FirstRead): FirstRead => ({ ...it, right });

type Opened = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly now: number;
};

const WAITING = only("approver", read("GET /v1/approvals", { query: { for: "me", limit: 100 } }));

/** What the frame asks for around every page. */
const ALWAYS: readonly FirstRead[] = [
  read("GET /v1/directory", { query: { kinds: LISTED_KINDS } }),
  read("GET /v1/members/me/preferences"),
];

const list = (path: "sources" | "agents" | "replays", status = "") =>
  read(`GET /v1/${path}`, { query: { limit: 50, status } });

const records = ({ query }: Opened): readonly FirstRead[] => [
  only("auditor", read("GET /v1/audit", { query: { ...auditQuery(query), limit: 50 } })),
  only("auditor", read("GET /v1/audit/coverage")),
  only("auditor", read("GET /v1/audit/checkpoint")),
  only("auditor", read("GET /v1/audit/key")),
];

const approvals = ({ params: { id }, query }: Opened): readonly FirstRead[] => {
  return [
    read("GET /v1/approvals", { query: { ...queueQuery(query), limit: 50 } }),
    ...(id === undefined
      ? []
      : [
          read("GET /v1/approvals/{id}", { params: { id } }),
          read("GET /v1/approvals/{id}/context", { params: { id } }),
        ]),
    read("GET /v1/approvals", { query: { for: "all", limit: 100 } }),
    read("GET /v1/approvals", { query: { for: "decided", limit: 100 } }),
  ];
};

/** What is put on a policy, of which the page of policies and that of one tell. */
const POLICY_USES: readonly FirstRead[] = [
  read("GET /v1/agents", { query: { limit: 100 } }),
  read("GET /v1/sources", { query: { limit: 100 } }),
  read("GET /v1/endpoints", { query: { limit: 100 } }),
  read("GET /v1/actions", { query: { limit: 100 } }),
];

/**
 * By the paths of pages. A page asks for the same when it is drawn, and a test in the browser finds what none of them
 * takes; a page that is not here asks once its scripts are there.
 */
const OF_PAGES: Readonly<Record<string, (opened: Opened) => readonly FirstRead[]>> = {
  "/overview": ({ query, now }) => {
    const { all, gates, held } = figuresQueries(spanIn(query), now);
    return [
      read("GET /v1/attention"),
      ...[all, gates, held].map((asked) => read("GET /v1/stats", { query: asked })),
      read("GET /v1/endpoints", { query: ENDPOINTS_QUERY }),
      read("GET /v1/policies", { query: BUDGETS_QUERY }),
    ];
  },
  "/events": ({ query }) => [
    read("GET /v1/events", { query: eventsQuery(query) }),
    read("GET /v1/events", { query: COUNTS_QUERY }),
  ],
  "/events/{id}": ({ params: { id = "" } }) => [
    read("GET /v1/events/{id}", { params: { id } }),
    only("auditor", read("GET /v1/audit", { query: { subject: id, limit: 100 } })),
    only("auditor", read("GET /v1/audit/coverage")),
  ],
  "/approvals": approvals,
  "/approvals/{id}": approvals,
  "/bundles": ({ query }) => [read("GET /v1/bundles", { query: { limit: 50, ...bundlesQuery(query) } })],
  "/bundles/{id}": ({ params: { id = "" } }) => [read("GET /v1/bundles/{id}", { params: { id } })],
  "/replays": ({ query }) => [list("replays", query.status)],
  "/replays/{id}": ({ params: { id = "" } }) => [read("GET /v1/replays/{id}", { params: { id } })],
  "/sources": () => [list("sources"), read("GET /v1/capabilities")],
  "/sources/{id}": ({ params: { id = "" }, now }) => [
    read("GET /v1/sources/{id}", { params: { id } }),
    read("GET /v1/stats", { query: lastDayQuery({ by: "source", id }, now) }),
  ],
  "/endpoints": () => [read("GET /v1/endpoints", { query: { limit: 100 } })],
  "/endpoints/{id}": ({ params: { id = "" }, now }) => [
    read("GET /v1/endpoints/{id}", { params: { id } }),
    read("GET /v1/stats", { query: lastDayQuery({ by: "endpoint", id }, now) }),
    read("GET /v1/events", { query: { endpoint_id: id, status: "failed", limit: 1 } }),
    read("GET /v1/sources", { query: { limit: 100 } }),
    read("GET /v1/actions", { query: { limit: 100 } }),
    only("admin", read("GET /v1/policies", { query: { limit: 100 } })),
    only("admin", read("GET /v1/events", { query: { endpoint_id: id, status: "held", limit: 1, total: "true" } })),
  ],
  "/agents": ({ query, now }) =>
    query.tab === "actions"
      ? []
      : [
          list("agents"),
          read("GET /v1/stats", { query: todayQuery(now) }),
          read("GET /v1/policies", { query: BUDGETS_QUERY }),
        ],
  "/agents/{id}": ({ params: { id = "" } }) => [read("GET /v1/agents/{id}", { params: { id } })],
  "/agents/actions/{name}": ({ params: { name = "" } }) => [read("GET /v1/actions/{name}", { params: { name } })],
  "/policies": () => [read("GET /v1/policies", { query: { limit: 50, ledger: "today" } }), ...POLICY_USES],
  "/policies/{id}": ({ params: { id = "" } }) => [read("GET /v1/policies/{id}", { params: { id } }), ...POLICY_USES],
  "/audit": records,
  "/audit/{index}": records,
  "/usage": ({ now }) => [
    read("GET /v1/billing/summary"),
    read("GET /v1/billing/plans"),
    read("GET /v1/stats", { query: usageQuery(monthStart(now)) }),
  ],
  "/settings/members": () => [only("owner", read("GET /v1/members", { query: { limit: 100 } }))],
  "/settings/keys": () => [only("admin", read("GET /v1/api-keys", { query: { limit: 100 } }))],
  "/settings/sessions": () => [read("GET /v1/auth/sessions", { query: { limit: 100 } })],
  "/settings/privacy": () => [read("GET /v1/capabilities")],
  "/settings/account": () => [read("GET /v1/capabilities")],
};

/**
 * The addresses of what a page asks for first, without what this role has no right to, in the order of their urgency: a
 * browser asks one host for six things at a time. Where the role is `unknown`, only what every role may read.
 */
export const firstReads = (path: string, role: string, opened: Opened): readonly string[] =>
  [...(Object.hasOwn(OF_PAGES, path) ? (OF_PAGES[path]?.(opened) ?? []) : []), ...ALWAYS, WAITING]
    .filter(({ right }) => right === null || hasRight(role, right))
    .map(({ address }) => address);
