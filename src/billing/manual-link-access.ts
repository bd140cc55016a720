import type { FastifyRequest } from "fastify";
import { account as accountDecider } from "../../domain/account/decider.ts";
import { roleIncludes } from "../../domain/account/events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { type BillingLink, type LinkKind, links } from "../../infra/billing/manual/links.ts";
import type { SecretBox } from "../../infra/crypto/secret-box.ts";
import { accountStream } from "../accounts/accounts.ts";
import type { CallCounts } from "../calls/call-counts.ts";
import { clientOf } from "../erasure/personal-data.ts";
import { crossSite } from "../http/cross-site.ts";
import { traceOf } from "../http/traceparent.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { Problem } from "../streams/problems.ts";
import { forbiddenView, type Opened, type View } from "./manual-views.ts";
import { sourcesInUse } from "./notices.ts";

export type ManualLinkAccessDeps = {
  readonly aggregates: Pick<Aggregates, "load">;
  readonly views: Pick<ViewStore, "count">;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly publicUrl: () => string;
  readonly calls: Pick<CallCounts, "refused" | "stranger">;
};

/** Empty if the path is percent-encoded, because a link is valid in one spelling only. */
export const segmentsOf = ({ params, url }: FastifyRequest): readonly string[] => {
  const path = (params as { readonly "*": string })["*"];
  return url.split("?", 1)[0]?.endsWith(`/${path}`) === true ? path.split("/") : [];
};

const tokenOf = (request: FastifyRequest): string => segmentsOf(request)[0] ?? "";

/** Opens the links of the manual provider. The token in a link's address is a credential that expires. */
export class ManualLinkAccess {
  readonly #deps: ManualLinkAccessDeps;
  readonly #links: ReturnType<typeof links>;

  constructor(deps: ManualLinkAccessDeps) {
    this.#deps = deps;
    this.#links = links(deps.box);
  }

  async open(kind: LinkKind, request: FastifyRequest): Promise<Opened | View> {
    const { aggregates, views, clock, publicUrl, calls } = this.#deps;
    const token = tokenOf(request);
    const link = this.#links.open(kind, token);
    if (link === null) {
      calls.stranger("billing-link");
      return forbiddenView("unknown");
    }
    const at = new Date(clock.now()).toISOString();
    if (link.expiresAt <= at) {
      this.#countRefusal(request, link, { kind, problem: "forbidden", detail: "The link had expired." });
      return forbiddenView("expired");
    }
    const { state } = await aggregates.load(accountDecider, accountStream(link.account), 0);
    if (state.phase !== "open") return forbiddenView("unknown");
    const asker = state.members.get(link.by);
    // The links of a member who was removed or is no longer an admin must not change the plan.
    if (asker === undefined || !roleIncludes(asker.role, "admin")) {
      const detail = "The member who requested the link is no longer an admin.";
      this.#countRefusal(request, link, { kind, problem: "forbidden", detail });
      return forbiddenView("expired");
    }
    const address = `${new URL(publicUrl()).pathname.replace(/\/$/, "")}/billing/${kind}/${token}`;
    const inUse = await sourcesInUse(views, link.account);
    return { link, address, state, inUse, at };
  }

  /** The address alone is the credential, so a form that another site's page sends to it is refused. */
  refuseCrossSite(kind: LinkKind, request: FastifyRequest): Problem | null {
    const { calls, publicUrl } = this.#deps;
    const foreign = crossSite(request.method, request.headers, "session", publicUrl());
    if (foreign === null) return null;
    const link = this.#links.open(kind, tokenOf(request));
    if (link === null) calls.stranger("cross-site");
    else this.#countRefusal(request, link, { kind, problem: "cross-site", detail: foreign.detail });
    return foreign;
  }

  #countRefusal(
    request: FastifyRequest,
    { account, by }: BillingLink,
    { kind, problem, detail }: { kind: LinkKind; problem: "forbidden" | "cross-site"; detail: string },
  ): void {
    const { method, ip, headers } = request;
    this.#deps.calls.refused({
      ...{ account, actor: { kind: "member", id: by }, subject: account, target: null, holds: false },
      ...{ problem, detail, route: `${method} /billing/${kind}` },
      client: clientOf({ ip, userAgent: headers["user-agent"] ?? "" }),
      trace: traceOf(request),
    });
  }
}
