import type { OpenAccount } from "../../domain/account/decider.ts";
import { planNamed } from "../../domain/account/overage.ts";
import { PLANS, type Plan } from "../../domain/account/plans.ts";
import { planAt, type Subscription, versionAt } from "../../domain/account/subscription.ts";
import { monthEnd } from "../../domain/calendar.ts";
import type { BillingLink } from "../../infra/billing/manual/links.ts";
import { noticesFor, saysOf } from "./notices.ts";
import type { Choice, Page } from "./pages.ts";

export type Opened = {
  readonly link: BillingLink;
  readonly address: string;
  readonly state: OpenAccount;
  readonly inUse: number;
  readonly at: string;
};

export type View = { readonly status: number; readonly page: Page };

const NOTHING_TO_SEE: Readonly<Record<"unknown" | "expired", View>> = {
  unknown: {
    status: 404,
    page: { title: "This link leads nowhere", says: ["Ask for a new one where you found it. Nothing was changed."] },
  },
  expired: {
    status: 410,
    page: { title: "This link has expired", says: ["Ask for a new one where you found it. Nothing was changed."] },
  },
};

export const forbiddenView = (why: "unknown" | "expired"): View => NOTHING_TO_SEE[why];

const dayOf = (at: string): string => at.slice(0, "YYYY-MM-DD".length);

/** The plan in force, and the scheduled change, which is null once it has taken effect. */
const holding = ({ state: { subscription }, at }: Opened): { plan: Plan; scheduled: Subscription["scheduled"] } => ({
  plan: planNamed(planAt(subscription, at)),
  scheduled: subscription.scheduled !== null && subscription.scheduled.from > at ? subscription.scheduled : null,
});

const standing = (it: Opened): string => {
  const { plan, scheduled } = holding(it);
  const until = scheduled === null ? "" : ` until ${dayOf(scheduled.from)}, and then ${scheduled.plan}`;
  return `The plan of ${it.state.name} is ${plan.name}${until}.`;
};

const effect = (it: Opened, wanted: Plan): string => {
  const { plan } = holding(it);
  if (wanted.priceEurMonth > plan.priceEurMonth) return "It takes effect at once.";
  const end = new Date(monthEnd(Date.parse(it.at))).toISOString();
  return `Until the end of the month that is paid for, the plan stays ${plan.name}: the change takes effect on ${dayOf(end)}.`;
};

const leaveTo = (href: string | null, text: string) => (href === null ? null : { href, text });

export const checkoutView = (it: Opened, rest: readonly string[]): View => {
  const { link, state, inUse, address } = it;
  const { doneUrl, leaveUrl } = link;
  const wanted = planNamed(link.plan);
  const isUsed = state.subscription.references.includes(`checkout-${link.session}`);
  const { plan, scheduled } = holding(it);
  if (isUsed || (scheduled ?? { plan: plan.name }).plan === wanted.name) {
    const title = isUsed ? "Done" : "Nothing to do";
    const says = [
      standing(it),
      ...(isUsed ? ["This checkout was confirmed; confirming it again changes nothing."] : []),
    ];
    const leave = leaveTo(doneUrl, "Go on");
    return { status: 200, page: { title, says, leave, goesOn: rest[0] === "done" } };
  }
  const choice: Choice = {
    says: saysOf(wanted),
    notices: [effect(it, wanted), ...noticesFor(wanted, plan, inUse)],
    button: { action: `${address}/confirm`, text: `Confirm ${wanted.name}` },
  };
  const page = {
    title: `Change to ${wanted.name}`,
    says: [standing(it), "Nothing is charged here: the operator of this service sends the bill."],
    choices: [choice],
    leave: leaveTo(leaveUrl, "Go back without changing anything"),
  };
  return { status: 200, page };
};

export const portalView = (it: Opened): View => {
  const { link, address, inUse } = it;
  const { plan, scheduled } = holding(it);
  const version = versionAt(it.state.subscription, it.at);
  const actionOf = (name: string): string => `${address}/${name}/${version}`;
  const choices = Object.values(PLANS).map((wanted): Choice => {
    const says = saysOf(wanted);
    if (wanted.name === plan.name) {
      const keep = { action: actionOf(wanted.name), text: `Keep ${wanted.name}` };
      return { says: `${says} (this is your plan)`, notices: [], button: scheduled === null ? null : keep };
    }
    if (wanted.name === scheduled?.plan) {
      return {
        says: `${says} (from ${dayOf(scheduled.from)})`,
        notices: noticesFor(wanted, plan, inUse),
        button: null,
      };
    }
    const text = wanted.name === "free" ? "Cancel the plan" : `Change to ${wanted.name}`;
    const notices = [effect(it, wanted), ...noticesFor(wanted, plan, inUse)];
    return { says, notices, button: { action: actionOf(wanted.name), text } };
  });
  const leave = leaveTo(link.leaveUrl, "Go back");
  return { status: 200, page: { title: "Your plan", says: [standing(it)], choices, leave } };
};

export const oldPortalView = (it: Opened): View => {
  const { page } = portalView(it);
  const says = ["This page was outdated, and nothing was changed. It now shows the current plan.", ...page.says];
  return { status: 409, page: { ...page, says } };
};
