import { counted, euro } from "../../design/format.ts";
import type { Parts } from "./record-parts.ts";

/** What a ledger counts, in words. Pure. A ledger is named by its policy or account, and by the day or limit that it counts. */

type Ledger = {
  readonly owner: string;
  /** What is counted, as a noun; null for bytes, whose number only the reservation has. */
  readonly unit: string | null;
  /** Stands after the owner's name: the day, the month or the run. */
  readonly of: string;
};

const MICRO = 1_000_000;
const LEDGER = /^([a-z]{3}_[a-z0-9]+)([-.])(.+)$/;
const DATED = /^([a-z_]+)-(\d{4}-\d{2}-\d{2})$/;

/** Days of an account, by what they count. */
const DAYS: Readonly<Record<string, { readonly unit: string | null; readonly of: string }>> = {
  stored: { unit: null, of: "stored on " },
  refused: { unit: null, of: "refused on " },
  refused_records: { unit: "recorded refusal", of: "" },
  session_changes: { unit: null, of: "changed by people on " },
  key_changes: { unit: null, of: "changed with API keys on " },
  agent_changes: { unit: null, of: "changed by agents on " },
};

/** Slots of an account, by what holds them. */
const SLOTS: Readonly<Record<string, string>> = {
  sources: "source",
  delivery_endpoints: "endpoint",
  policies: "policy",
  agents: "agent",
  actions: "action",
  sessions: "sign-in",
  held_approvals: "held request",
};

const isIn = (words: object, name: string | undefined): name is string =>
  name !== undefined && Object.hasOwn(words, name);

export const LEDGER_TYPES = ["Reserved", "Settled", "Charged", "Released"] as const;
type LedgerType = (typeof LEDGER_TYPES)[number];

export const isOfLedger = (type: string): type is LedgerType => (LEDGER_TYPES as readonly string[]).includes(type);

/** Null for what is no ledger. */
export const ledgerOf = (subject: string): Ledger | null => {
  const [, owner, separator, rest = ""] = LEDGER.exec(subject) ?? [];
  if (owner === undefined) return null;
  if (separator === "." && rest.startsWith("same-")) return { owner, unit: "identical request", of: "" };
  if (separator === "." && rest.startsWith("run-"))
    return { owner, unit: "request", of: `run ${rest.slice("run-".length)}` };
  const [, kind, day] = DATED.exec(rest) ?? [];
  const dated = isIn(DAYS, kind) ? DAYS[kind] : undefined;
  if (dated !== undefined) return { owner, unit: dated.unit, of: `${dated.of}${day}` };
  if (isIn(SLOTS, rest)) return { owner, unit: SLOTS[rest] ?? null, of: "" };
  return { owner, unit: "request", of: rest };
};

const many = (count: number, unit: string): string =>
  counted(count, unit, unit.endsWith("cy") ? unit.replace(/y$/, "ies") : `${unit}s`);

/** The last entry of each request: a later one of the same request stands for the earlier. */
const entriesOf = (it: Parts): readonly Parts[] => [
  ...new Map(it.list("entries").map((entry, nth) => [entry.text("event") || nth, entry])).values(),
];

/** What a record of a ledger says, up to the ledger's name. */
export const ledgerSentence = (type: LedgerType, it: Parts, subject: string): string => {
  const entries = entriesOf(it);
  const { unit } = ledgerOf(subject) ?? { unit: "request" };
  const counts = entries.map((entry) => entry.count("places") || 1);
  const places = counts.reduce((sum, count) => sum + count, 0);
  if (unit === null) return type === "Reserved" ? `counted ${many(places, "byte")} of ` : "kept the counted bytes of ";
  const sum = euro(entries.reduce((total, entry) => total + entry.count("cost"), 0) / MICRO);
  const held = many(entries.length, unit);
  if (type === "Charged") return `charged ${sum} for ${held} to `;
  if (type === "Released") return `stopped counting ${held} of `;
  if (entries.every((entry) => entry.count("cost") === 0))
    return type === "Reserved" ? `counted ${many(places, unit)} of ` : `kept counting ${held} of `;
  return `${type === "Reserved" ? "reserved" : "spent"} ${sum} for ${held} of `;
};
