import {
  type DisplaySettings,
  preferences as decider,
  type HiddenColumns,
  type Preferences,
  type PreferencesOfAccount,
} from "../../domain/account/preferences.ts";
import type { Commitment } from "../../domain/evidence/commitment.ts";
import type { Json } from "../../domain/json.ts";
import { sameJson } from "../../domain/same-json.ts";
import type { PersonalData } from "../erasure/personal-data.ts";
import type { Aggregates, Handled } from "../streams/aggregates.ts";
import type { Envelope } from "../streams/envelope.ts";

/** An address of the console under a name. */
export type SavedView = { readonly name: string; readonly address: string };

export type MemberPreferences = Omit<DisplaySettings, "hidden_columns"> & {
  readonly hidden_columns: readonly HiddenColumns[];
  readonly version: number;
  readonly personal: readonly SavedView[];
  readonly shared: readonly SavedView[];
};

export type PreferencesDeps = {
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly personal: Pick<PersonalData, "keep" | "forget" | "read" | "erase">;
};

const DEFAULTS: DisplaySettings = { scheme: "system", density: "comfortable", letters: true };

const streamOf = (account: string): string => `preferences-${account}`;

const isView = (value: Json): value is SavedView =>
  typeof value === "object" && value !== null && "name" in value && "address" in value;

const viewsIn = async (
  { personal }: PreferencesDeps,
  account: string,
  commitment: Commitment | null,
): Promise<readonly SavedView[]> => {
  const value = commitment === null ? null : await personal.read(commitment, account);
  if (value === null || typeof value === "string") return [];
  const { views } = value;
  return Array.isArray(views) ? views.filter(isView) : [];
};

const allOf = async ({ aggregates }: PreferencesDeps, account: string): Promise<PreferencesOfAccount> =>
  (await aggregates.load(decider, streamOf(account), 0)).state;

export const preferencesOf = async (
  deps: PreferencesDeps,
  account: string,
  member: string,
): Promise<MemberPreferences> => {
  const own = (await allOf(deps, account)).get(member);
  if (own === undefined) return { ...DEFAULTS, hidden_columns: [], version: 0, personal: [], shared: [] };
  const [personal, shared] = await Promise.all([
    viewsIn(deps, account, own.personal),
    viewsIn(deps, account, own.shared),
  ]);
  return { hidden_columns: [], ...own.settings, version: own.version, personal, shared };
};

/** What other members share; the views of those who have left the account are not among them. */
export const sharedWith = async (
  deps: PreferencesDeps,
  account: string,
  member: string,
  present: ReadonlySet<string>,
): Promise<readonly (SavedView & { readonly by: string })[]> => {
  const others = [...(await allOf(deps, account))].filter(([id]) => id !== member && present.has(id));
  const views = await Promise.all(
    others.map(async ([by, { shared }]) => (await viewsIn(deps, account, shared)).map((it) => ({ ...it, by }))),
  );
  return views.flat();
};

/** Without `hidden_columns` these stay as they are. */
type Wanted = Omit<MemberPreferences, "version" | "hidden_columns"> & {
  readonly version: number | null;
  readonly hidden_columns?: readonly HiddenColumns[];
};

/** The commitment of before if the views are the same; else a new one, which a record has to name. */
const kept = async (
  deps: PreferencesDeps,
  envelope: Envelope,
  before: Commitment | null,
  views: readonly SavedView[],
): Promise<Commitment | null> => {
  if (views.length === 0) return null;
  const { account } = envelope;
  if (before !== null && sameJson(await viewsIn(deps, account, before), views)) return before;
  return deps.personal.keep(streamOf(account), { views }, envelope);
};

/**
 * Views that are no longer in force are erased. After a crash before that they stay, as other personal data that records
 * name, and an owner can erase them (`DELETE /v1/audit/personal/{id}`).
 */
export const setPreferences = async (
  deps: PreferencesDeps,
  member: string,
  { personal, shared, version, hidden_columns, ...settings }: Wanted,
  envelope: Envelope,
): Promise<Handled<PreferencesOfAccount, "changed">> => {
  const { account, at } = envelope;
  const before = (await allOf(deps, account)).get(member);
  const hidden = hidden_columns ?? before?.settings.hidden_columns ?? [];
  const wanted: Preferences = {
    settings: hidden.length === 0 ? settings : { ...settings, hidden_columns: hidden },
    personal: await kept(deps, envelope, before?.personal ?? null, personal),
    shared: await kept(deps, envelope, before?.shared ?? null, shared),
  };
  const command = { account, memberId: member, preferences: wanted, version, at };
  const done = await deps.aggregates.handle(decider, streamOf(account), command, envelope);
  const now = done.state.get(member);
  const isNamed = (it: Commitment): boolean => it.id === now?.personal?.id || it.id === now?.shared?.id;
  for (const it of [wanted.personal, wanted.shared]) if (it !== null && !isNamed(it)) await deps.personal.forget(it);
  if (done.outcome !== "accepted") return done;
  for (const it of [before?.personal ?? null, before?.shared ?? null]) {
    if (it === null || isNamed(it)) continue;
    await deps.personal.erase(it.id, "replaced", { ...envelope, commandId: `${envelope.commandId}/${it.id}` });
  }
  return done;
};
