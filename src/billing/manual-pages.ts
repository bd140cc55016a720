import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { account as accountDecider } from "../../domain/account/decider.ts";
import { roleIncludes } from "../../domain/account/events.ts";
import { PLANS, type Plan } from "../../domain/account/plans.ts";
import { versionAt } from "../../domain/account/subscription.ts";
import { monthEnd } from "../../domain/calendar.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { type BillingLink, type LinkKind, links } from "../../infra/billing/manual/links.ts";
import type { SecretBox } from "../../infra/crypto/secret-box.ts";
import { accountStream } from "../accounts/accounts.ts";
import type { CountedCalls } from "../calls/counted-calls.ts";
import { clientOf } from "../erasure/personal-data.ts";
import { crossSite } from "../http/cross-site.ts";
import { sendProblem } from "../http/problem-reply.ts";
import { listedProblems } from "../http/route-problems.ts";
import { traceOf } from "../http/trace.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { NO_TRACE } from "../streams/envelope.ts";
import { checkoutView, forbiddenView, type Opened, oldPortalView, portalView, type View } from "./manual-views.ts";
import { sourcesInUse } from "./notices.ts";
import { BILLING_CSP, billingPage } from "./pages.ts";

export type ManualPagesDeps = {
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly views: Pick<ViewStore, "count">;
  readonly box: SecretBox;
  readonly clock: Clock;
  /** Without a slash at the end. */
  readonly publicUrl: () => string;
  readonly calls: Pick<CountedCalls, "refused" | "stranger">;
};

/** Forms of the pages carry no fields. */
const BODY_BYTES_MAX = 1_024;
const ROUTE = { schema: { hide: true }, config: { problems: listedProblems("cross-site", "too-large") } };

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": BILLING_CSP,
  "cache-control": "no-store",
  "x-frame-options": "DENY",
  // The address is the credential: nobody else is told of it. Our own forms keep their Origin with this one.
  "referrer-policy": "same-origin",
} as const;

const PLAN_NAMES = Object.values(PLANS).map(({ name }) => name);

/** What the wildcard of the route stands for. Nothing in our addresses has to be encoded: of several spellings one is the address. */
const pathOf = ({ params, url }: FastifyRequest): readonly string[] => {
  const path = (params as { readonly "*": string })["*"];
  return url.split("?", 1)[0]?.endsWith(`/${path}`) === true ? path.split("/") : [];
};

/** What is looked at: the page itself, and what follows a form. */
const isShown = (rest: readonly string[]): boolean => rest.length === 0 || (rest.length === 1 && rest[0] === "done");

type Wish = {
  readonly plan: Plan["name"];
  /** The name of this very wish. */
  readonly reference: string;
  /** Of the subscription that the person had before them, where it matters. */
  readonly version?: number;
};

/**
 * The hosted pages of the manual provider: `/billing/checkout/<token>` and `/billing/portal/<token>`. The token is the
 * credential: it was given to an admin, says for what, and expires. A wildcard, as tokens are longer than parameters may be.
 */
export const manualPages =
  ({ aggregates, views, box, clock, publicUrl, calls }: ManualPagesDeps) =>
  async (app: FastifyInstance): Promise<void> => {
    const { open } = links(box);
    const send = (reply: FastifyReply, { status, page }: View): FastifyReply =>
      reply.code(status).headers(HEADERS).send(billingPage(page));

    const refused = (
      kind: LinkKind,
      request: FastifyRequest,
      { account, by }: BillingLink,
      detail: string,
      problem: "forbidden" | "cross-site" = "forbidden",
    ): void => {
      const { method, ip, headers } = request;
      calls.refused({
        ...{ account, actor: { kind: "member", id: by }, subject: account, target: null, holds: false },
        ...{ problem, detail, route: `${method} /billing/${kind}` },
        client: clientOf({ ip, userAgent: headers["user-agent"] ?? "" }),
        trace: traceOf(request),
      });
    };

    /** What the address opens, or the page that says why it opens nothing. `rest` is what stands behind the token. */
    const opened = async (kind: LinkKind, request: FastifyRequest): Promise<Opened | View> => {
      const [token = ""] = pathOf(request);
      const link = open(kind, token);
      if (link === null) {
        calls.stranger("billing-link");
        return forbiddenView("unknown");
      }
      const at = new Date(clock.now()).toISOString();
      if (link.expiresAt <= at) {
        refused(kind, request, link, "The link had expired.");
        return forbiddenView("expired");
      }
      const { state } = await aggregates.load(accountDecider, accountStream(link.account), 0);
      if (state.phase !== "open") return forbiddenView("unknown");
      const asker = state.members.get(link.by);
      // Who was removed, or is no admin any more, has left nothing behind that still changes the plan.
      if (asker === undefined || !roleIncludes(asker.role, "admin")) {
        refused(kind, request, link, "Whoever asked for the link is no admin any more.");
        return forbiddenView("expired");
      }
      const address = `${new URL(publicUrl()).pathname.replace(/\/$/, "")}/billing/${kind}/${token}`;
      const inUse = await sourcesInUse(views, link.account);
      return { link, address, state, inUse, at };
    };

    const change = async ({ link, at }: Opened, wish: Wish): Promise<void> => {
      const { reference } = wish;
      const periodEnd = new Date(monthEnd(Date.parse(at))).toISOString();
      const about = { provider: "manual", by: link.by, periodEnd, at };
      const envelope = {
        commandId: reference,
        account: link.account,
        actor: { kind: "member", id: link.by },
        trace: NO_TRACE,
        at,
      } as const;
      const command = { type: "ChangePlan", ...wish, ...about } as const;
      await aggregates.handle(accountDecider, accountStream(link.account), command, envelope);
    };

    const show = (kind: LinkKind, viewOf: (it: Opened, rest: readonly string[]) => View) =>
      app.get(`/billing/${kind}/*`, ROUTE, async (request, reply) => {
        const it = await opened(kind, request);
        const rest = pathOf(request).slice(1);
        if (!isShown(rest)) return send(reply, forbiddenView("unknown"));
        return send(reply, "page" in it ? it : viewOf(it, rest));
      });

    /** Whether a form was of a page that does not hold any more, and nothing has come of it. */
    const isOld = ({ state: { subscription }, at }: Opened, { reference, version }: Wish): boolean =>
      version !== undefined && version !== versionAt(subscription, at) && !subscription.references.includes(reference);

    /** `wishOf`: what a form asks for; null: there is no such form. */
    const take = (kind: LinkKind, wishOf: (it: Opened, rest: readonly string[]) => Wish | null) =>
      app.post(`/billing/${kind}/*`, ROUTE, async (request, reply) => {
        // As with a session: what the address alone allows must not be sent by another site's page.
        const foreign = crossSite(request.method, request.headers, "session", publicUrl());
        if (foreign !== null) {
          const link = open(kind, pathOf(request)[0] ?? "");
          if (link === null) calls.stranger("cross-site");
          else refused(kind, request, link, foreign.detail, "cross-site");
          return sendProblem(request, reply, foreign);
        }
        const it = await opened(kind, request);
        if ("page" in it) return send(reply, it);
        const wish = wishOf(it, pathOf(request).slice(1));
        if (wish === null) return send(reply, forbiddenView("unknown"));
        await change(it, wish);
        // Another form may have come between.
        const now = await opened(kind, request);
        if ("page" in now) return send(reply, now);
        if (isOld(now, wish)) return send(reply, oldPortalView(now));
        // See Other: a reload of what follows sends nothing again.
        return reply.code(303).headers(HEADERS).header("location", `${it.address}/done`).send();
      });

    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: BODY_BYTES_MAX }, (_request, body, done) =>
      done(null, body),
    );
    show("checkout", checkoutView);
    take("checkout", ({ link }, rest) =>
      rest.length === 1 && rest[0] === "confirm"
        ? { plan: link.plan as Plan["name"], reference: `checkout-${link.session}` }
        : null,
    );
    show("portal", portalView);
    take("portal", ({ link }, [asked, seen, ...more]) => {
      const plan = PLAN_NAMES.find((name) => name === asked);
      if (plan === undefined || seen === undefined || !/^\d{1,15}$/.test(seen) || more.length > 0) return null;
      // What a person saw when they asked: the same form sent twice is one wish, a later one is another.
      return { plan, reference: `portal-${link.session}/${plan}/${seen}`, version: Number(seen) };
    });
  };
