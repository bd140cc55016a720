import type { FastifyInstance, FastifyReply } from "fastify";
import { account as accountDecider } from "../../domain/account/decider.ts";
import { PLANS, type Plan } from "../../domain/account/plans.ts";
import { versionAt } from "../../domain/account/subscription.ts";
import { monthEnd } from "../../domain/calendar.ts";
import type { LinkKind } from "../../infra/billing/manual/links.ts";
import { accountStream } from "../accounts/accounts.ts";
import { sendProblem } from "../http/problem-reply.ts";
import { listedProblems } from "../http/route-problems.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { NO_TRACE } from "../streams/envelope.ts";
import { ManualLinkAccess, type ManualLinkAccessDeps, segmentsOf } from "./manual-link-access.ts";
import { checkoutView, forbiddenView, type Opened, oldPortalView, portalView, type View } from "./manual-views.ts";
import { BILLING_CSP, billingPage } from "./pages.ts";

export type ManualPagesDeps = ManualLinkAccessDeps & { readonly aggregates: Pick<Aggregates, "load" | "handle"> };

const BODY_BYTES_MAX = 1_024;
const ROUTE = { schema: { hide: true }, config: { problems: listedProblems("cross-site", "too-large") } };

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": BILLING_CSP,
  "cache-control": "no-store",
  "x-frame-options": "DENY",
  // The address is a credential and must not leak to other sites, but our own forms have to send their Origin.
  "referrer-policy": "same-origin",
} as const;

const PLAN_NAMES = Object.values(PLANS).map(({ name }) => name);

const isShown = (rest: readonly string[]): boolean => rest.length === 0 || (rest.length === 1 && rest[0] === "done");

type PlanChoice = {
  readonly plan: Plan["name"];
  /** The same for a form that is sent twice, so that the choice takes effect once. */
  readonly reference: string;
  /** The version of the subscription that the page showed; absent if any version will do. */
  readonly version?: number;
};

/** True if the form was on a page that shows an older subscription, so that the choice had no effect. */
const isOutdated = ({ state: { subscription }, at }: Opened, { reference, version }: PlanChoice): boolean =>
  version !== undefined && version !== versionAt(subscription, at) && !subscription.references.includes(reference);

const checkoutChoice = ({ link }: Opened, rest: readonly string[]): PlanChoice | null =>
  rest.length === 1 && rest[0] === "confirm"
    ? { plan: link.plan as Plan["name"], reference: `checkout-${link.session}` }
    : null;

const portalChoice = ({ link }: Opened, [name, version, ...more]: readonly string[]): PlanChoice | null => {
  const plan = PLAN_NAMES.find((known) => known === name);
  if (plan === undefined || version === undefined || !/^\d{1,15}$/.test(version) || more.length > 0) return null;
  return { plan, reference: `portal-${link.session}/${plan}/${version}`, version: Number(version) };
};

const send = (reply: FastifyReply, { status, page }: View): FastifyReply =>
  reply.code(status).headers(HEADERS).send(billingPage(page));

/** Serves the pages of links. Its routes have a wildcard, because tokens exceed the length of a route's parameter. */
export const manualPages =
  (deps: ManualPagesDeps) =>
  async (app: FastifyInstance): Promise<void> => {
    const access = new ManualLinkAccess(deps);

    const change = async ({ link, at }: Opened, choice: PlanChoice): Promise<void> => {
      const periodEnd = new Date(monthEnd(Date.parse(at))).toISOString();
      const command = { type: "ChangePlan", ...choice, provider: "manual", by: link.by, periodEnd, at } as const;
      await deps.aggregates.handle(accountDecider, accountStream(link.account), command, {
        commandId: choice.reference,
        account: link.account,
        actor: { kind: "member", id: link.by },
        trace: NO_TRACE,
        at,
      });
    };

    const show = (kind: LinkKind, viewOf: (it: Opened, rest: readonly string[]) => View) =>
      app.get(`/billing/${kind}/*`, ROUTE, async (request, reply) => {
        const it = await access.open(kind, request);
        const rest = segmentsOf(request).slice(1);
        if (!isShown(rest)) return send(reply, forbiddenView("unknown"));
        return send(reply, "page" in it ? it : viewOf(it, rest));
      });

    /** `choiceOf` returns null if the address is that of no form. */
    const take = (kind: LinkKind, choiceOf: (it: Opened, rest: readonly string[]) => PlanChoice | null) =>
      app.post(`/billing/${kind}/*`, ROUTE, async (request, reply) => {
        const foreign = access.refuseCrossSite(kind, request);
        if (foreign !== null) return sendProblem(request, reply, foreign);
        const it = await access.open(kind, request);
        if ("page" in it) return send(reply, it);
        const choice = choiceOf(it, segmentsOf(request).slice(1));
        if (choice === null) return send(reply, forbiddenView("unknown"));
        await change(it, choice);
        const now = await access.open(kind, request);
        if ("page" in now) return send(reply, now);
        if (isOutdated(now, choice)) return send(reply, oldPortalView(now));
        // 303 See Other: a reload then repeats the next page's GET and does not send the form again.
        return reply.code(303).headers(HEADERS).header("location", `${it.address}/done`).send();
      });

    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: BODY_BYTES_MAX }, (_request, body, done) =>
      done(null, body),
    );
    show("checkout", checkoutView);
    take("checkout", checkoutChoice);
    show("portal", portalView);
    take("portal", portalChoice);
  };
