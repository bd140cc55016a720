import type { BillingPage, BillingProvider, Payer } from "../../../domain/ports/billing.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import type { Randomness } from "../../../domain/ports/randomness.ts";
import { randomId } from "../../crypto/ids.ts";
import { SealBroken, type SecretBox } from "../../crypto/secret-box.ts";

export type LinkKind = "checkout" | "portal";

/** What the address of a page says: who holds it may do what it is for, until it expires. */
export type BillingLink = {
  readonly kind: LinkKind;
  readonly account: string;
  readonly session: string;
  /** The member who asked for it. */
  readonly by: string;
  /** Of a checkout; else empty. */
  readonly plan: string;
  readonly expiresAt: string;
  /** Where the page leads when all is done, and when it is left; null: nowhere. */
  readonly doneUrl: string | null;
  readonly leaveUrl: string | null;
};

/** Long enough to ask a colleague, short enough to be of no use in a log that somebody finds. */
const LINK_MS = 3_600_000;
const SESSION: Readonly<Record<LinkKind, string>> = { checkout: "cos_", portal: "pos_" };

export type Links = {
  /** `<account>.<base64url>`: the account in the open, as what is sealed opens for its own account only. */
  seal(link: BillingLink): string;
  /** Null for what this service has not sealed for this kind of page. */
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
        // Nobody but `seal` makes what opens.
        const bytes = Buffer.from(sealed, "base64url");
        // Of several spellings of the same bytes one is a link.
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
  /** Without a slash at the end. */
  readonly publicUrl: () => string;
};

/**
 * Nobody is charged: pages of our own change the plan. For who runs the service for themselves, or writes bills by hand
 * from the summary. The pages are `src/billing/manual-pages.ts`.
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
