import { LRUCache } from "lru-cache";
import type { Clock } from "../../../domain/ports/clock.ts";
import { approvals } from "../../../projections/approvals.ts";
import { bundles } from "../../../projections/bundles.ts";
import { endpoints } from "../../../projections/endpoints.ts";
import { policies } from "../../../projections/policies.ts";
import { signatureFailures } from "../../../projections/signature-failures.ts";
import { sources } from "../../../projections/sources.ts";
import { nullableTime, object, text, time } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import { type Call, READERS, type Route, route } from "../../http/route.ts";
import {
  type Asker,
  bundlesToUndo,
  failingEndpoints,
  KINDS,
  type Need,
  type NeedsDeps,
  refusedSignatures,
  SEVERITIES,
  usedBudgets,
  waitingApprovals,
} from "./needs.ts";

export type AttentionDeps = NeedsDeps & { readonly clock: Pick<Clock, "now"> };

const NEEDS_MAX = 50;

type Look = (deps: NeedsDeps, asker: Asker) => Promise<readonly Need[]>;

const LOOKS: readonly Look[] = [waitingApprovals, failingEndpoints, bundlesToUndo, refusedSignatures];

/** A ledger settles what is due before it answers, so members who look often ask it only this often (ms). */
const BUDGETS_MS = 5_000;
const ACCOUNTS_MAX = 1_000;

/** Budgets are the same for all members of an account. */
const rememberedBudgets = (): Look => {
  const known = new LRUCache<string, Promise<readonly Need[]>>({ max: ACCOUNTS_MAX, ttl: BUDGETS_MS });
  return (deps, asker) => {
    const { account } = asker.principal;
    const looked = known.get(account) ?? usedBudgets(deps, asker);
    known.set(account, looked, { noUpdateTTL: true });
    looked.catch(() => known.delete(account));
    return looked;
  };
};

/** The worst first; of equally bad ones, by kind, and then what lasts longest. */
const worstFirst = (a: Need, b: Need): number =>
  SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
  KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
  (a.since < b.since ? -1 : 1);

const NEED = named(
  "AttentionItem",
  object<Need>({
    kind: { enum: KINDS },
    subject: {
      ...object({ kind: text, id: text, name: text }),
      description: "The thing; of approvals, the one that expires first",
    },
    since: time,
    count: {
      type: "integer",
      description: "Approvals, events that wait, steps to undo, per cent of the budget, or requests refused in an hour",
    },
    detail: { ...text, description: "What is the matter, as sentences" },
    severity: { enum: SEVERITIES },
    until: {
      ...nullableTime,
      description: "When the approval expires, the endpoint is probed or the budget begins anew",
    },
  }),
);

export const attentionRoutes = (deps: AttentionDeps): readonly Route[] => {
  const looks = [...LOOKS, rememberedBudgets()];
  return [attentionRoute(deps, looks)];
};

const ATTENTION = named("Attention", object({ data: { type: "array", maxItems: NEEDS_MAX, items: NEED } }));

const attentionRoute = (deps: AttentionDeps, looks: readonly Look[]): Route =>
  route({
    method: "GET",
    path: "/v1/attention",
    who: READERS,
    summary:
      "What needs a person, the worst first: approvals for the caller, open circuits and disabled endpoints with waiting events, bundles to " +
      "undo, budgets used by more than 90 %, sources whose requests were refused for their signature in the last hour",
    tag: "events",
    answers: { 200: ATTENTION },
    reads: [approvals, endpoints, bundles, policies, sources, signatureFailures].map(({ schema }) => schema.name),
    async handle({ principal }: Call) {
      const asker = { principal, nowMs: deps.clock.now() };
      const needs = (await Promise.all(looks.map((look) => look(deps, asker)))).flat();
      return { status: 200, body: { data: needs.sort(worstFirst).slice(0, NEEDS_MAX) } };
    },
  });
