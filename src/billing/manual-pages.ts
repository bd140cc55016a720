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
  readonly publicUrl: () => string;
  readonly calls: Pick<CountedCalls, "refused" | "stranger">;
};

const BODY_BYTES_MAX = 1_024;
const ROUTE = { schema: { hide: true }, config: { problems: listedProblems("cross-site", "too-large") } };

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": BILLING_CSP,
  "cache-control": "no-store",
  "x-frame-options": "DENY",
  // The address is a credential and must not leak; our own forms keep their Origin with this policy.
  "referrer-policy": "same-origin",
} as const;

const PLAN_NAMES = Object.values(PLANS).map(({ name }) => name);

/** Empty if the path is percent-encoded, as only one spelling of a link is valid. */
const pathOf = ({ params, url }: FastifyRequest): readonly string[] => {
  const path = (params as { readonly "*": string })["*"];
  return url.split("?", 1)[0]?.endsWith(`/${path}`) === true ? path.split("/") : [];
};

const isShown = (rest: readonly string[]): boolean => rest.length === 0 || (rest.length === 1 && rest[0] === "done");

type Wish = {
  readonly plan: Plan["name"];
  /** A form that is sent twice has the same reference, and takes effect once. */
  readonly reference: string;
  /** The version of the subscription that the page showed; absent if it does not matter. */
  readonly version?: number;
};

/**
 * The token in the address is a credential that expires. It is a wildcard of the route, as it exceeds the limit for
 * parameters.
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
      // A removed or demoted member's links must not change the plan any more.
      if (asker === undefined || !roleIncludes(asker.role, "admin")) {
        refused(kind, request, link, "The member who requested the link is no longer an admin.");
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

    /** True if the form was on an outdated page and had no effect. */
    const isOld = ({ state: { subscription }, at }: Opened, { reference, version }: Wish): boolean =>
      version !== undefined && version !== versionAt(subscription, at) && !subscription.references.includes(reference);

    /** `wishOf` returns null if there is no such form. */
    const take = (kind: LinkKind, wishOf: (it: Opened, rest: readonly string[]) => Wish | null) =>
      app.post(`/billing/${kind}/*`, ROUTE, async (request, reply) => {
        // The address alone is the credential, so the page of another site must not send it.
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
        const now = await opened(kind, request);
        if ("page" in now) return send(reply, now);
        if (isOld(now, wish)) return send(reply, oldPortalView(now));
        // 303 See Other: reloading the next page sends nothing again.
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
      return { plan, reference: `portal-${link.session}/${plan}/${seen}`, version: Number(seen) };
    });
  };
