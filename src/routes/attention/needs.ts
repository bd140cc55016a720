import { dayIn, dayStart, iso, untilMidnight } from "../../../domain/calendar.ts";
import { eurOf, MICRO_PER_EUR } from "../../../domain/gate/cost.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import type { ApprovalDocument } from "../../../projections/approvals.ts";
import { type BundleDocument, bundles } from "../../../projections/bundles.ts";
import { type EndpointDocument, endpoints } from "../../../projections/endpoints.ts";
import { policies } from "../../../projections/policies.ts";
import { type SignatureFailureDocument, signatureFailures } from "../../../projections/signature-failures.ts";
import { sources } from "../../../projections/sources.ts";
import type { Principal } from "../../http/route.ts";
import type { LedgerFigures } from "../../ledgers/ledger-stream.ts";
import { dayLedger } from "../../ledgers/policy-days.ts";
import { pageIn } from "../../views/typed-documents.ts";
import { waitingFor } from "../approvals/approval-list.ts";

export const KINDS = ["approvals", "endpoint", "bundle", "budget", "source"] as const;
export const SEVERITIES = ["critical", "warning"] as const;

/** Something that a person should look at. `subject` is the thing; of several approvals, the one that expires first. */
export type Need = {
  readonly kind: (typeof KINDS)[number];
  readonly subject: { readonly kind: string; readonly id: string; readonly name: string };
  readonly since: string;
  /** Approvals, waiting events, steps to undo, per cent of a budget that are used, or refused requests. */
  readonly count: number;
  readonly detail: string;
  readonly severity: (typeof SEVERITIES)[number];
  /** When an approval expires, an endpoint is probed or a budget begins anew; null if time changes nothing. */
  readonly until: string | null;
};

export type NeedsDeps = {
  readonly views: Pick<ViewStore, "page">;
  readonly ledgers: { figures(stream: string, account: string): Promise<LedgerFigures> };
  readonly timeZoneOf: (account: string) => Promise<string>;
  /** The sentences that are decided, by the ids of approvals; those of actions without a template are missing. */
  readonly titlesOf: (
    ids: readonly string[],
    reader: { readonly principal: Principal; readonly at: string },
  ) => Promise<ReadonlyMap<string, string>>;
};

export type Asker = { readonly principal: Principal; readonly nowMs: number };

/** The most things of an account that are looked at, of each kind. */
const LOOKED_AT_MAX = 200;
const MINUTE_MS = 60_000;
const EXPIRES_SOON_MS = 15 * MINUTE_MS;
const BUDGET_SHARE = 0.9;
/** A ledger is asked for each. */
const BUDGETS_MAX = 50;
const REFUSED_IN_MS = 60 * MINUTE_MS;

const events = (count: number): string => (count === 1 ? "1 event waits" : `${count} events wait`);

export const waitingApprovals = async (
  { views, titlesOf }: NeedsDeps,
  { principal, nowMs }: Asker,
): Promise<readonly Need[]> => {
  const at = iso(nowMs);
  const found = await waitingFor(views, principal, at);
  // The list of approvals has nothing else.
  const waiting = found.map(({ id, document }) => ({ id, document: document as ApprovalDocument & typeof document }));
  const [first] = waiting.sort((a, b) => (a.document.expires_at < b.document.expires_at ? -1 : 1));
  const since = waiting.map(({ document }) => document.requested_at).sort()[0];
  if (first === undefined || since === undefined) return [];
  const { expires_at, summary } = first.document;
  const name = (await titlesOf([first.id], { principal, at })).get(first.id) ?? summary;
  const count = waiting.length;
  return [
    {
      kind: "approvals",
      subject: { kind: "approval", id: first.id, name },
      since,
      count,
      detail: `${count === 1 ? "1 approval waits" : `${count} approvals wait`} for you. The first to expire: ${name}.`,
      severity: Date.parse(expires_at) - nowMs <= EXPIRES_SOON_MS ? "critical" : "warning",
      until: expires_at,
    },
  ];
};

const endpointNeed = (id: string, { name, circuit, disabled, queued }: EndpointDocument): readonly Need[] => {
  const about = { kind: "endpoint", subject: { kind: "endpoint", id, name }, count: queued } as const;
  if (disabled !== null && queued > 0) {
    const detail = `It is disabled (${disabled.reason.replace(/\.$/, "")}). ${events(queued)}.`;
    return [{ ...about, since: disabled.at, detail, severity: "critical", until: null }];
  }
  if (disabled !== null || circuit.state !== "open") return [];
  const detail = `Its circuit is open. ${events(queued)}.`;
  return [{ ...about, since: circuit.since ?? "", detail, severity: "critical", until: circuit.next_probe_at }];
};

export const failingEndpoints = async ({ views }: NeedsDeps, { principal }: Asker): Promise<readonly Need[]> => {
  const found = await pageIn<EndpointDocument>(views, endpoints, {
    where: [
      { field: "account", is: "=", value: principal.account },
      { field: "deleted", is: "=", value: 0 },
    ],
    sort: { field: "created_at", order: "desc" },
    limit: LOOKED_AT_MAX,
  });
  return found.flatMap(({ id, document }) => endpointNeed(id, document));
};

export const bundlesToUndo = async ({ views }: NeedsDeps, { principal }: Asker): Promise<readonly Need[]> => {
  const found = await pageIn<BundleDocument>(views, bundles, {
    where: [
      { field: "account", is: "=", value: principal.account },
      { field: "status", is: "=", value: "rollback_incomplete" },
    ],
    sort: { field: "created_at", order: "desc" },
    limit: LOOKED_AT_MAX,
  });
  return found.map(({ id, document: { name, left, ended_at, created_at } }) => ({
    kind: "bundle",
    subject: { kind: "bundle", id, name: name ?? id },
    since: ended_at ?? created_at,
    count: left.length,
    detail: `It stopped half undone. ${left.length === 1 ? "1 step needs" : `${left.length} steps need`} a manual undo.`,
    severity: "critical",
    until: null,
  }));
};

/** The figures are those of the policy's own page, so that both say the same. Policies beyond `BUDGETS_MAX` are left out. */
export const usedBudgets = async (deps: NeedsDeps, { principal, nowMs }: Asker): Promise<readonly Need[]> => {
  const { account } = principal;
  const found = await pageIn(deps.views, policies, {
    where: [{ field: "account", is: "=", value: account }],
    sort: { field: "first_at", order: "desc" },
    limit: LOOKED_AT_MAX,
  });
  const zone = await deps.timeZoneOf(account);
  const day = dayIn(zone, nowMs);
  const limited = found.flatMap(({ id, document: { definition } }) => {
    const { name, budget_eur_day: budget = 0 } = definition;
    return budget > 0 ? [{ id, name, budget }] : [];
  });
  const needs = await Promise.all(
    limited.slice(0, BUDGETS_MAX).map(async ({ id, name, budget }): Promise<readonly Need[]> => {
      const { reserved, settled } = await deps.ledgers.figures(dayLedger(id, day), account);
      const share = (reserved + settled) / (budget * MICRO_PER_EUR);
      if (share <= BUDGET_SHARE) return [];
      return [
        {
          kind: "budget",
          subject: { kind: "policy", id, name },
          since: iso(dayStart(zone, day)),
          count: Math.floor(share * 100),
          detail: `${eurOf(reserved + settled).toFixed(2)} of ${budget.toFixed(2)} EUR of today are spent or reserved.`,
          severity: share >= 1 ? "critical" : "warning",
          until: iso(nowMs + untilMidnight(zone, nowMs)),
        },
      ];
    }),
  );
  return needs.flat();
};

const refusedBy = async (
  { views }: NeedsDeps,
  { principal, nowMs }: Asker,
  source: { readonly id: string; readonly name: string },
): Promise<readonly Need[]> => {
  const found = await pageIn<SignatureFailureDocument>(views, signatureFailures, {
    where: [
      { field: "account", is: "=", value: principal.account },
      { field: "source_id", is: "=", value: source.id },
      { field: "minute", is: ">=", value: iso(nowMs - REFUSED_IN_MS) },
    ],
    sort: { field: "minute", order: "asc" },
    limit: LOOKED_AT_MAX,
  });
  const counts = new Map<string, number>();
  for (const { document } of found) counts.set(document.reason, (counts.get(document.reason) ?? 0) + document.count);
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  const since = found[0]?.document.minute;
  if (most === undefined || since === undefined) return [];
  const count = [...counts.values()].reduce((sum, it) => sum + it, 0);
  return [
    {
      kind: "source",
      subject: { kind: "source", ...source },
      since,
      count,
      detail: `${count === 1 ? "1 request was" : `${count} requests were`} refused in the last hour, mostly as ${most[0]}.`,
      severity: "warning",
      until: null,
    },
  ];
};

export const refusedSignatures = async (deps: NeedsDeps, asker: Asker): Promise<readonly Need[]> => {
  const found = await pageIn(deps.views, sources, {
    where: [{ field: "account", is: "=", value: asker.principal.account }],
    sort: { field: "created_at", order: "desc" },
    limit: LOOKED_AT_MAX,
  });
  const needs = await Promise.all(found.map(({ id, document: { name } }) => refusedBy(deps, asker, { id, name })));
  return needs.flat();
};
