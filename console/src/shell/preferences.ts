import { effect, signal } from "@preact/signals";
import { switchLetters } from "../../design/keys.ts";
import { type AnswerOf, call } from "../api/api.ts";
import type { Answered } from "../api/calls.ts";

export type Preferences = AnswerOf<"GET /v1/members/me/preferences">;
type Settings = Pick<Preferences, "scheme" | "density" | "letters" | "views" | "hidden_columns">;
type Change = Partial<Settings> | ((before: Preferences) => Partial<Settings>);

/** What the member has chosen; null until it was read. */
export const preferences = signal<Preferences | null>(null);

/** The scheme is kept in the browser, so that a page is drawn in it before the preferences are read. */
const KEPT = "countersign-scheme";

const drawIn = (scheme: string): void => {
  const { dataset } = document.documentElement;
  if (scheme === "light" || scheme === "dark") dataset.scheme = scheme;
  else delete dataset.scheme;
};

const keep = (scheme: Settings["scheme"]): void => {
  if (scheme === "system") localStorage.removeItem(KEPT);
  else localStorage.setItem(KEPT, scheme);
};

/** Draws the page in the scheme that this browser had last. */
export const startScheme = (): void => {
  drawIn(localStorage.getItem(KEPT) ?? "system");
  effect(() => {
    const chosen = preferences.value;
    if (chosen === null) return;
    drawIn(chosen.scheme);
    keep(chosen.scheme);
    document.documentElement.dataset.density = chosen.density;
    switchLetters(chosen.letters);
  });
};

export const readPreferences = async (): Promise<Answered<Preferences>> => {
  const answer = await call("GET /v1/members/me/preferences");
  if (answer.ok) preferences.value = answer.body;
  return answer;
};

const changed = async (to: Change): Promise<Answered<Preferences>> => {
  const read = await readPreferences();
  if (!read.ok) return read;
  const { shared_views: _, ...own } = read.body;
  const body = { ...own, ...(typeof to === "function" ? to(read.body) : to) };
  const answer = await call("PUT /v1/members/me/preferences", { body });
  if (answer.ok) preferences.value = answer.body;
  return answer;
};

let underWay: Promise<unknown> = Promise.resolve();

/**
 * Changes some settings. The others and the saved views go with them as they are, because the service replaces all of it at once; so a
 * second change waits until the first is made, and does not meet it as another's.
 */
export const changePreferences = (to: Change): Promise<Answered<Preferences>> => {
  const change = underWay.then(() => changed(to));
  underWay = change.catch(() => undefined);
  return change;
};
