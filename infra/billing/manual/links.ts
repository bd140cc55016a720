import type { BillingPage, BillingProvider, Payer } from "../../../domain/ports/billing.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import type { Randomness } from "../../../domain/ports/randomness.ts";
import { randomId } from "../../crypto/ids.ts";
import { SealBroken, type SecretBox } from "../../crypto/secret-box.ts";

export type LinkKind = "checkout" | "portal";

/** The sealed content of a billing page's URL. Whoever has the URL can use the page until it expires. */
export type BillingLink = {
  readonly kind: LinkKind;
  readonly account: string;
  readonly session: string;
  readonly by: string;
  readonly plan: string;
  readonly expiresAt: string;
  /** The page leads to `doneUrl` after a change of the plan and to `leaveUrl` without one; null: it leads nowhere. */
  readonly doneUrl: string | null;
  readonly leaveUrl: string | null;
};

/** A person has an hour to pass the link on to a colleague; found later in an access log, the link is useless. */
const LINK_MS = 3_600_000;
const SESSION: Readonly<Record<LinkKind, string>> = { checkout: "cos_", portal: "pos_" };

export type Links = {
  /** The token is `<account>.<base64url>`. The account is in clear text, because `open` needs it to open the seal. */
  seal(link: BillingLink): string;
  /** Null unless this service sealed the token for this kind of page. `expiresAt` is not checked. */
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
        const bytes = Buffer.from(sealed, "base64url");
        // Base64url can spell the same bytes in several ways; only one is accepted, so that a link has only one token.
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
  readonly publicUrl: () => string;
};

/** Charges nothing: our own pages (`src/billing/manual-pages.ts`) change the plan, and bills are written by hand. */
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
