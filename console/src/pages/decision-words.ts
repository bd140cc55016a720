import { countdown, counted, duration, euro } from "../../design/format.ts";
import { type Message, message } from "./message.ts";

/** What the decision card tells of a decision, in words. Pure. */

type Vote = {
  readonly member_id: string;
  readonly email: string;
  readonly decision: "approve" | "reject";
  readonly at: string;
};

export type Decided = {
  readonly status: string;
  readonly decided_at: string | null;
  readonly expires_at: string;
  readonly requested_by: { readonly kind: "source" | "agent"; readonly name: string };
  readonly votes: readonly Vote[];
};

export type OutcomeFacts = {
  /** The id of the member who reads. */
  readonly reader: string;
  /** True if the reader had it before them when it was decided. */
  readonly wasOpen: boolean;
  /** True if the reader pressed a button, and it came too late. */
  readonly isLate: boolean;
  readonly now: number;
  /** What differs between what was read and what is asked now; each is a sentence. */
  readonly changes: readonly string[];
  /** Null unless it was delivered, and it is known how long that took. */
  readonly delivered: { readonly to: string; readonly ms: number } | null;
};

/** As many as a person reads; the new request shows all. */
const CHANGES_SHOWN = 3;
const DECISIONS = { approve: "approved.", reject: "rejected." } as const;

/** What of the request its voter saw; `hidden` are JSON Pointers, and "" is the whole payload. */
export const shownWords = (shown: { readonly form: string; readonly hidden: readonly string[] }): string => {
  if (shown.form === "full") return "Every field was shown to them.";
  if (shown.form !== "redacted") return "What was shown to them is not recorded.";
  if (shown.hidden.includes("")) return "The payload was hidden from them.";
  const [first = ""] = shown.hidden;
  return shown.hidden.length === 1
    ? `The field ${first} was hidden from them.`
    : `${counted(shown.hidden.length, "field")} were hidden from them: ${shown.hidden.join(", ")}.`;
};

/** The request is not any more what was read. */
export const changedMessage = (changes: readonly string[], isLate: boolean, wasOpen = true): Message =>
  message(
    wasOpen ? "The request changed while you read it." : "The request changed, so this approval counts no more.",
    ...changes.slice(0, CHANGES_SHOWN).map((it) => `${it} `),
    isLate ? "Your decision was not sent." : "Nothing was decided.",
  );

/** What became of a request that is decided, or cannot be decided any more. */
export const outcomeMessage = (it: Decided, facts: OutcomeFacts): Message => {
  const { status, votes, requested_by: by } = it;
  const { reader, isLate, now, delivered } = facts;
  const late = isLate ? " Your decision was not sent." : "";
  const last = votes.at(-1);
  if (status === "void") return changedMessage(facts.changes, isLate, facts.wasOpen);
  if (status === "cancelled") return message("It was cancelled.", `Nothing was sent.${late}`);
  if (status === "expired") {
    const again = by.kind === "agent" ? "The agent can ask again." : "The source can send it again.";
    return message(
      ["It expired at ", { at: it.decided_at ?? it.expires_at }, "."],
      `Nothing was sent. ${again}${late}`,
    );
  }
  const isApproved = status === "approved" || status === "consumed";
  const sent = delivered === null ? "" : `Delivered to ${delivered.to} in ${duration(delivered.ms)}.`;
  if (last !== undefined && last.member_id !== reader) {
    const ago = countdown(Math.max(0, now - Date.parse(last.at)));
    const rest = late === "" ? (isApproved ? sent && ` ${sent}` : " Nothing was sent.") : late;
    return message(`${last.email} decided this ${ago} ago:`, `${DECISIONS[last.decision]}${rest}`);
  }
  if (isApproved) return message("Approved.", sent);
  const told = by.kind === "agent" ? ` ${by.name} was told your reason.` : "";
  return status === "rejected" ? message("Rejected.", `Nothing was sent.${told}`) : message(`It is ${status}.`);
};

/** What may still be said of a request: it is asked, was approved whatever came of it, was carried out, or never will be. */
export type Stage = "asked" | "approved" | "done" | "dropped";

/** How it ends well: an event, a bundle, a change, and an event that has no endpoint. */
const DONE: readonly string[] = ["delivered", "committed", "applied", "recorded"];

/** `outcome` is the status of what was held: of the event, the bundle or the change. */
export const stageOf = (status: string, outcome: string): Stage => {
  if (status === "pending") return "asked";
  if ((status !== "approved" && status !== "consumed") || outcome === "cancelled") return "dropped";
  return DONE.includes(outcome) ? "done" : "approved";
};

/** How the parts of a card are headed: a decided card does not speak of what the reader may still do. */
export const STAGE_HEADINGS: Readonly<Record<Stage, { readonly effect: string; readonly fields: string }>> = {
  asked: { effect: "If you approve", fields: "What is sent" },
  approved: { effect: "What was approved", fields: "What was approved to be sent" },
  done: { effect: "What was approved", fields: "What was sent" },
  dropped: { effect: "What was asked for", fields: "What was to be sent" },
};

/** Only what a person approved or rejected was decided on. */
export const sealLabel = (status: string): string => {
  if (status === "pending") return "What you sign";
  return ["approved", "consumed", "rejected"].includes(status) ? "What was decided on" : "What was asked for";
};

type Asked = {
  readonly votes: readonly { readonly decision: "approve" | "reject" }[];
  readonly min_approvals: number;
  readonly expires_at: string;
};

const listed = (names: readonly string[]): string => new Intl.ListFormat("en").format(names);

/** "Ben Okafor and Dev Malhotra"; a number where a name is not known. */
const people = (names: readonly (string | null)[]): string => {
  const known = names.filter((it) => it !== null);
  return known.length < names.length ? counted(names.length, "other member") : listed(known);
};

/** Who can decide where this member cannot; a null is one whose name is not known. */
export const othersCan = (names: readonly (string | null)[]): string =>
  names.length === 0 ? "Nobody else can at the moment." : `${people(names)} can.`;

/** To a member who has approved, while others are waited for. */
export const countsMessage = (it: Asked, names: readonly (string | null)[], now: number): Message => {
  const given = it.votes.filter(({ decision }) => decision === "approve").length;
  const asked = `${people(names)} ${names.length === 1 ? "was" : "were"} asked`;
  const left = duration(Math.max(0, Date.parse(it.expires_at) - now));
  return message(
    `Your approval counts: ${given} of ${it.min_approvals}.`,
    names.length === 0 ? "Nobody else can decide at the moment." : `${asked}; it expires in ${left}.`,
  );
};

/** To a member who counts as the requester. */
export const ownMessage = (names: readonly (string | null)[]): Message =>
  message("You asked for this, so another person has to decide.", othersCan(names));

/** What the first press on Approve says. */
export const approveQuestion = (cost: number | null, effect: string): string =>
  `Approve${cost === null || cost === 0 ? "" : ` ${euro(cost)}`}? ${effect}`;
