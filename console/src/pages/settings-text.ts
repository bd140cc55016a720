import { DAY_MS } from "../../design/format.ts";

/** What the pages of settings compute and say. Pure. */

/** From the most rights to the fewest; each role may do what those after it may. */
export const ROLES = [
  { value: "owner", word: "Owner: changes members too" },
  { value: "admin", word: "Admin: sets up, publishes policies, makes keys" },
  { value: "approver", word: "Approver: decides what is held" },
  { value: "auditor", word: "Auditor: reads the audit" },
  { value: "viewer", word: "Viewer: reads" },
] as const;

export const KEY_ROLES = [
  { value: "admin", word: "Admin: sets up sources, endpoints, agents" },
  { value: "auditor", word: "Auditor: reads the audit" },
  { value: "viewer", word: "Viewer: reads" },
] as const;

/** What a member of each role may do. */
export const RIGHTS: Readonly<Record<string, string>> = {
  owner: "read everything, decide approvals, change the configuration, and administer members and keys",
  admin: "read everything, decide approvals, change the configuration, and administer keys",
  approver: "read everything and decide approvals",
  auditor: "read everything, the audit included",
  viewer: "read everything but the audit",
};

/** `Owner` for the API's `owner`. */
export const roleWord = (role: string): string => `${role.charAt(0).toUpperCase()}${role.slice(1)}`;

export const EXPIRIES = [
  { value: "", word: "Never" },
  { value: "30", word: "In 30 days" },
  { value: "90", word: "In 90 days" },
  { value: "365", word: "In a year" },
] as const;

/** The time in so many days, ISO 8601; null for none. */
export const expiryIn = (days: string, now: number): string | null =>
  days === "" ? null : new Date(now + Number(days) * DAY_MS).toISOString();

/** In the order in which they are looked for: Edge and Opera name Chrome too, and Chrome names Safari. */
const BROWSERS = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^curl\//, "curl"],
] as const;
const SYSTEMS = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
] as const;

const named = (of: readonly (readonly [RegExp, string])[], text: string): string | undefined =>
  of.find(([pattern]) => pattern.test(text))?.[1];

/** `Firefox on Windows`; what no browser sends stays as it was sent. */
export const deviceOf = (userAgent: string | null): string => {
  if (userAgent === null) return "Erased";
  const browser = named(BROWSERS, userAgent);
  const system = named(SYSTEMS, userAgent);
  if (browser === undefined) return userAgent;
  return system === undefined ? browser : `${browser} on ${system}`;
};
