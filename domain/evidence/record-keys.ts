import type { Json, JsonObject } from "../json.ts";
import type { Actor } from "../ports/event-log.ts";
import { sortTexts } from "./sort-texts.ts";

/** An id is a prefix and 160 bits in base32; only a whole value counts. */
const ID = /^[a-z]+_[a-z2-7]{32}$/;
const ID_DIGITS = 32;

/** A sender or an agent chose the values of these members, so an id in them says nothing about the record. */
const CHOSEN_BY_SENDERS: ReadonlySet<string> = new Set(["delivery_key", "idempotency_key", "type", "run"]);

export const ACTION_KEY_PREFIX = "action:";

/** What follows the first dash of a stream's name. */
export const subjectOf = (stream: string): string => stream.slice(stream.indexOf("-") + 1);

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Most texts have no underscore there, and need no regular expression. */
export const isId = (text: string): boolean => text.charAt(text.length - ID_DIGITS - 1) === "_" && ID.test(text);

const addIds = (value: Json, found: Set<string>): void => {
  if (typeof value === "string") {
    if (isId(value)) found.add(value);
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) if (!CHOSEN_BY_SENDERS.has(name)) addIds(value[name] ?? null, found);
};

const actionNameOf = ({ action }: JsonObject): string | null => {
  if (typeof action === "string") return action;
  return isObject(action) && typeof action.name === "string" ? action.name : null;
};

export type KeyedRecord = {
  readonly account: string;
  readonly actor: Actor;
  readonly stream: string;
  readonly data: JsonObject;
};

/** All by which an auditor can ask for the record and be shown that no other one is missing, in the order of UTF-16. */
export const keysOf = ({ account, actor, stream, data }: KeyedRecord): readonly string[] => {
  const found = new Set<string>();
  addIds(actor.id, found);
  addIds(subjectOf(stream), found);
  addIds(data, found);
  // Every record names its account, so the account would say nothing.
  found.delete(account);
  const action = actionNameOf(data);
  if (action !== null) found.add(`${ACTION_KEY_PREFIX}${action}`);
  return sortTexts([...found]);
};
