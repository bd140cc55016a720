import type { Answered, Api } from "./api.ts";
import type { Place } from "./place.ts";
import type { Tree } from "./tree.ts";

type ActOptions = {
  /** The HTTP method; POST if left out. */
  readonly method?: "POST" | "DELETE";
  readonly to?: (answer: unknown) => string;
};

export type Screen = {
  readonly place: Place;
  /** The present time, in milliseconds since 1970. */
  readonly now: number;
  readonly role: string;
  /** Answers that the page's buttons have fetched, by name; gone when the user moves to another page. */
  readonly kept: Readonly<Record<string, unknown>>;
  /** Calls the API. Then the page is loaded again and shows `message`, or the user moves to the page of `to`. */
  act(path: string, body: unknown, message: string, options?: ActOptions): void;
  /** Fetches a text and keeps it as `kept[name]`. */
  keepText(name: string, path: string): void;
  /** Calls a route that changes nothing, and keeps its answer as `kept[name]`. */
  keepAnswer(name: string, path: string, body: unknown): void;
  go(href: string): void;
};

export type Page<T> = {
  readonly title: string;
  load(api: Api, place: Place): Promise<Answered<T>>;
  show(data: T, screen: Screen): Tree;
  isMoving(data: T): boolean;
};

const ROLES = ["viewer", "auditor", "approver", "admin", "owner"];

/** Decides only whether a button is shown; what a member may do is decided by the service. */
export const may = ({ role }: Pick<Screen, "role">, needed: string): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(needed);
