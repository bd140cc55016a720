import type { Answered, Api } from "./api.ts";
import type { Place } from "./place.ts";
import type { Tree } from "./tree.ts";

type ActOptions = {
  /** POST unless given. */
  readonly method?: "POST" | "DELETE";
  readonly to?: (answer: unknown) => string;
};

export type Screen = {
  readonly place: Place;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly role: string;
  /** Answers that buttons fetched for this page, by name. */
  readonly kept: Readonly<Record<string, unknown>>;
  /** Calls the API, then reloads the page with the message, or moves to the page at `to`. */
  act(path: string, body: unknown, message: string, options?: ActOptions): void;
  /** Fetches text into `kept`. */
  keepText(name: string, path: string): void;
  /** Calls a route that changes nothing, and keeps the answer. */
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

/** Only hides buttons; the service decides. */
export const may = ({ role }: Pick<Screen, "role">, needed: string): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(needed);
