import { accept, type Decider, reject } from "../decider.ts";
import type { Commitment } from "../evidence/commitment.ts";
import { sameJson } from "../same-json.ts";

export const SCHEMES = ["system", "light", "dark"] as const;
export const DENSITIES = ["comfortable", "compact"] as const;

export type DisplaySettings = {
  readonly scheme: (typeof SCHEMES)[number];
  readonly density: (typeof DENSITIES)[number];
  /** Whether single letters are keys (WCAG 2.1.4). */
  readonly letters: boolean;
  /** Left out if no column is hidden. */
  readonly hidden_columns?: readonly HiddenColumns[];
};

/** The columns of one list of the console, by the names that they have there. */
export type HiddenColumns = { readonly list: string; readonly columns: readonly string[] };

/** A saved view may name people, so records have commitments to views. Null for a member without any. */
export type Preferences = {
  readonly settings: DisplaySettings;
  readonly personal: Commitment | null;
  readonly shared: Commitment | null;
};

/** Stream `preferences-<account>`. Each record has all that its member prefers. */
export type PreferencesEvent = {
  readonly type: "PreferencesSet";
  readonly data: Preferences & {
    readonly account: string;
    readonly member_id: string;
    /** Counts the member's records, from 1. */
    readonly version: number;
    readonly at: string;
  };
};

export type PreferencesOfAccount = ReadonlyMap<string, Preferences & { readonly version: number }>;

/** `version`: the one that the member has read, so that no other tab's change is lost; null overwrites any. */
export type SetPreferences = {
  readonly account: string;
  readonly memberId: string;
  readonly preferences: Preferences;
  readonly version: number | null;
  readonly at: string;
};

export const preferences: Decider<PreferencesOfAccount, SetPreferences, PreferencesEvent, "changed"> = {
  initial: new Map(),

  evolve(state, { data: { member_id, settings, personal, shared, version } }) {
    return new Map(state).set(member_id, { settings, personal, shared, version });
  },

  decide({ account, memberId: member_id, preferences: wanted, version: read, at }, state) {
    const { version = 0, ...now } = state.get(member_id) ?? {};
    if (sameJson(now, wanted)) return accept();
    if (read !== null && read !== version) return reject("changed");
    return accept({ type: "PreferencesSet", data: { ...wanted, account, member_id, version: version + 1, at } });
  },
};
