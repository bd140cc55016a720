import type { Answered, Api } from "./api.ts";
import type { Place } from "./place.ts";
import type { Tree } from "./tree.ts";

/** What a page's view knows beside its data, and what its buttons can do. */
export type Screen = {
  readonly place: Place;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly role: string;
  /** Answers that a button has fetched for this page, by the name it gave them. */
  readonly kept: Readonly<Record<string, unknown>>;
  /** Calls, then shows the page anew with what is to be said, or another one that is found by the answer. */
  act(method: "POST" | "DELETE", path: string, body: unknown, said: string, to?: (answer: unknown) => string): void;
  /** Fetches text for this page. */
  keepText(name: string, path: string): void;
  /** Asks for something that changes nothing, for this page. */
  keepAnswer(name: string, path: string, body: unknown): void;
  go(href: string): void;
};

export type Page<T> = {
  readonly title: string;
  load(api: Api, place: Place): Promise<Answered<T>>;
  show(data: T, screen: Screen): Tree;
  /** Whether it changes by itself at the moment, so that it is looked at again. */
  isMoving(data: T): boolean;
};

const ROLES = ["viewer", "auditor", "approver", "admin", "owner"];

/** The service decides; this only leaves out buttons that would be refused. */
export const may = ({ role }: Pick<Screen, "role">, needed: string): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(needed);
