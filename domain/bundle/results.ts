import { escapePointer, type FieldPath, parseFieldPath, readField } from "../gate/field-path.ts";
import type { Json, JsonObject } from "../json.ts";

/** `{"$result": {"step": 0, "pointer": "/id"}}`: a place in what the target of an earlier step has answered. */
export type Reference = {
  /** Where in the payload it stands, a JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly step: number;
  /** Into the answer's body; "" for all of it. */
  readonly pointer: string;
};

type Malformed = { readonly path: string; readonly detail: string };

/** In the order in which they stand in the payload; of what is malformed the first `MALFORMED_MAX`. */
export type References = { readonly references: readonly Reference[]; readonly malformed: readonly Malformed[] };

export type Resolved =
  | { readonly ok: true; readonly payload: Json }
  | { readonly ok: false; readonly path: string; readonly detail: string };

const KEY = "$result";
/** Each may become a whole answer, so that their number bounds what a small payload can grow to. */
const REFERENCES_MAX = 100;
/** Who has mended so many looks again. */
export const MALFORMED_MAX = 20;
/** One name may be as long as the payload, and all that is within it has it in its place. */
const PLACE_SHOWN_MAX = 200;

const MALFORMED =
  `must be {"$result": {"step": <index of an earlier step>, "pointer": <a JSON Pointer into its answer>}}, ` +
  "and have no other members";

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
const isObject = (value: Json): value is JsonObject => typeof value === "object" && value !== null && !isList(value);

/** RFC 6901, section 5: the empty pointer is the whole document. Null when it is none. */
const pathOf = (pointer: string): FieldPath | null => {
  if (pointer === "") return [];
  return pointer.startsWith("/") ? parseFieldPath(pointer) : null;
};

/** What has this member is a reference, or was meant as one: it is never data. */
const isReference = (value: Json): value is JsonObject => isObject(value) && Object.hasOwn(value, KEY);

const hasMembers = (object: JsonObject, count: number): boolean => Object.keys(object).length === count;

const parsed = (reference: JsonObject): Omit<Reference, "path"> | null => {
  const value = reference[KEY];
  if (!hasMembers(reference, 1) || value === undefined || !isObject(value) || !hasMembers(value, 2)) return null;
  const { step, pointer } = value;
  if (typeof step !== "number" || !Number.isSafeInteger(step) || step < 0) return null;
  return typeof pointer === "string" && pathOf(pointer) !== null ? { step, pointer } : null;
};

/**
 * Replaces each reference by what `replace` says, and nothing within what it has put there: an answer is data, whatever
 * it looks like. No deeper than the JSON that is taken in.
 */
const replacing = (value: Json, path: string, replace: (reference: JsonObject, path: string) => Json): Json => {
  if (isReference(value)) return replace(value, path);
  if (isList(value)) return value.map((item, index) => replacing(item, `${path}/${index}`, replace));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, it]) => [name, replacing(it, `${path}/${escapePointer(name)}`, replace)]),
  );
};

/** A place as people and records are told of it: a long one by its beginning. */
export const placeShown = (path: string): string =>
  path.length > PLACE_SHOWN_MAX ? `${path.slice(0, PLACE_SHOWN_MAX)}…` : path;

/** What a payload uses of earlier results, and what looks like it and is none. Which steps there are is the caller's to ask. */
export const referencesOf = (payload: Json): References => {
  const references: Reference[] = [];
  const malformed: Malformed[] = [];
  const refuse = (path: string, detail: string): void => {
    if (malformed.length < MALFORMED_MAX) malformed.push({ path: placeShown(path), detail });
  };
  replacing(payload, "", (reference, path) => {
    const it = parsed(reference);
    if (it === null) refuse(path, MALFORMED);
    else if (references.length < REFERENCES_MAX) references.push({ path, ...it });
    else refuse(path, `is one more than ${REFERENCES_MAX} results in one payload`);
    return null;
  });
  return { references, malformed };
};

/** Each reference replaced by what `replace` says of it; what is malformed stays as it is. */
export const replaced = (payload: Json, replace: (reference: Reference) => Json): Json =>
  replacing(payload, "", (reference, path) => {
    const it = parsed(reference);
    return it === null ? reference : replace({ path, ...it });
  });

/** The place of a reference, as a path of any length: it stands in JSON that was taken in. */
export const placeOf = ({ path }: Pick<Reference, "path">): FieldPath =>
  path
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));

/** Whether what stands at a path is, or stands in, what a reference will be replaced by. */
export const comesFromResult = (references: readonly Reference[], path: FieldPath): boolean => {
  const beginnings = path.map((_, levels) =>
    path.slice(0, levels + 1).reduce((to, name) => `${to}/${escapePointer(name)}`, ""),
  );
  return references.some((reference) => reference.path === "" || beginnings.includes(reference.path));
};

/** What a step's target has answered, or why nothing of that can be used. */
export type Usable = { readonly body: Json } | { readonly missing: string };

/** `resultAt`: of one step. The first that is missing is told. */
export const resolved = (payload: Json, resultAt: (step: number) => Usable): Resolved => {
  const missing: Malformed[] = [];
  const made = replacing(payload, "", (reference, path) => {
    const it = parsed(reference);
    const result = it === null ? { missing: MALFORMED } : resultAt(it.step);
    const value = it === null || "missing" in result ? undefined : readField(result.body, pathOf(it.pointer) ?? []);
    if (value === undefined) {
      const why = "missing" in result ? result.missing : `has answered nothing at ${JSON.stringify(it?.pointer)}`;
      missing.push({ path, detail: it === null ? why : `step ${it.step} ${why}` });
      return null;
    }
    // What is read from JSON is JSON.
    return value as Json;
  });
  const [first] = missing;
  return first === undefined
    ? { ok: true, payload: made }
    : { ok: false, path: placeShown(first.path), detail: first.detail };
};
