import type { BillingPage, BillingProvider, Payer } from "../../../domain/ports/billing.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import type { Randomness } from "../../../domain/ports/randomness.ts";
import { randomId } from "../../crypto/ids.ts";
import { SealBroken, type SecretBox } from "../../crypto/secret-box.ts";

export type LinkKind = "checkout" | "portal";

/** The content of a page's address, which is a credential until it expires. */
export type BillingLink = {
  readonly kind: LinkKind;
  readonly account: string;
  readonly session: string;
  /** The member who requested the link. */
  readonly by: string;
  /** Empty unless the page is a checkout. */
  readonly plan: string;
  readonly expiresAt: string;
  /** Where the page leads after the change, and where without one; null for nowhere. */
  readonly doneUrl: string | null;
  readonly leaveUrl: string | null;
};

/** Long enough to ask a colleague, and too short to be of use in an old access log. */
const LINK_MS = 3_600_000;
const SESSION: Readonly<Record<LinkKind, string>> = { checkout: "cos_", portal: "pos_" };

export type Links = {
  /** `<account>.<base64url>`. The account is readable, as the seal opens only for its own account. */
  seal(link: BillingLink): string;
  /** Null unless this service sealed the token for this kind of page. */
  open(kind: LinkKind, token: string): BillingLink | null;
};

const TOKEN = /^(?<account>[\w-]+)\.(?<sealed>[\w-]+)$/;

export const links = (box: SecretBox): Links => {
  const placeOf = (kind: LinkKind, account: string) => ({ account, stream: "billing-link", field: kind });
  return {
    seal(link) {
      const sealed = Buffer.from(box.seal(JSON.stringify(link), placeOf(link.kind, link.account)), "base64");
      return `${link.account}.${sealed.toString("base64url")}`;
    },
    open(kind, token) {
      const { account = "", sealed = "" } = TOKEN.exec(token)?.groups ?? {};
      try {
        // Only `seal` makes texts that open.
        const bytes = Buffer.from(sealed, "base64url");
        // A link has only one spelling.
        if (bytes.toString("base64url") !== sealed) return null;
        return JSON.parse(box.open(bytes.toString("base64"), placeOf(kind, account)));
      } catch (error) {
        if (error instanceof SealBroken) return null;
        throw error;
      }
    },
  };
};

export type ManualBillingDeps = {
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Has no slash at the end. */
  readonly publicUrl: () => string;
};

/**
 * Charges nothing: our own pages (`src/billing/manual-pages.ts`) change the plan. For operators without customers, or
 * who write bills by hand.
 */
export const manualBilling = ({ box, clock, randomness, publicUrl }: ManualBillingDeps): BillingProvider => {
  const { seal } = links(box);
  const page = (
    kind: LinkKind,
    { account, by }: Payer,
    rest: Pick<BillingLink, "plan" | "doneUrl" | "leaveUrl">,
  ): BillingPage => {
    const session = randomId(SESSION[kind], randomness);
    const expiresAt = new Date(clock.now() + LINK_MS).toISOString();
    const token = seal({ kind, account, by, session, expiresAt, ...rest });
    return { url: `${publicUrl()}/billing/${kind}/${token}`, sessionId: session, expiresAt, customer: null };
  };
  return {
    name: "manual",
    startCheckout: async (payer, { plan, successUrl, cancelUrl }) =>
      page("checkout", payer, { plan, doneUrl: successUrl, leaveUrl: cancelUrl }),
    portal: async (payer, returnUrl) => page("portal", payer, { plan: "", doneUrl: null, leaveUrl: returnUrl }),
    reportOverage: null,
    webhooks: null,
  };
};
