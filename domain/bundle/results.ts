import { escapePointer, type FieldPath, parseFieldPath, readField } from "../gate/field-path.ts";
import type { Json, JsonObject } from "../json.ts";

/** `{"$result": {"step": 0, "pointer": "/id"}}` stands for a value in the answer to an earlier step. */
export type Reference = {
  /** The position of the reference itself in the payload, a JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly step: number;
  /** A JSON Pointer into the body of the step's answer; "" for all of it. */
  readonly pointer: string;
};

type MalformedReference = { readonly path: string; readonly detail: string };

/** Both lists are in the order of the payload. `malformed` has at most `MALFORMED_MAX` entries. */
export type References = {
  readonly references: readonly Reference[];
  readonly malformed: readonly MalformedReference[];
};

export type ResolvedPayload =
  | { readonly ok: true; readonly payload: Json }
  | { readonly ok: false; readonly path: string; readonly detail: string };

const KEY = "$result";
/** Each reference may become a whole answer, so their number bounds the size of the payload. */
const REFERENCES_MAX = 100;
/** Further malformed references are not listed: a person who has mended this many sends the payload again. */
export const MALFORMED_MAX = 20;
/** Longer paths are cut: a name may be as long as the payload, and every reference below it repeats the name. */
const PATH_SHOWN_MAX = 200;

const MALFORMED =
  `must be {"$result": {"step": <index of an earlier step>, "pointer": <a JSON Pointer into its answer>}}, ` +
  "and have no other members";

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
const isObject = (value: Json): value is JsonObject => typeof value === "object" && value !== null && !isList(value);

/** The empty pointer stands for the whole document (RFC 6901, section 5). Null if the pointer is invalid. */
const pathOf = (pointer: string): FieldPath | null => {
  if (pointer === "") return [];
  return pointer.startsWith("/") ? parseFieldPath(pointer) : null;
};

/** An object with the member `$result` is always a reference, never data. */
const isReference = (value: Json): value is JsonObject => isObject(value) && Object.hasOwn(value, KEY);

const hasMembers = (object: JsonObject, count: number): boolean => Object.keys(object).length === count;

const parsed = (reference: JsonObject): Omit<Reference, "path"> | null => {
  const value = reference[KEY];
  if (!hasMembers(reference, 1) || value === undefined || !isObject(value) || !hasMembers(value, 2)) return null;
  const { step, pointer } = value;
  if (typeof step !== "number" || !Number.isSafeInteger(step) || step < 0) return null;
  return typeof pointer === "string" && pathOf(pointer) !== null ? { step, pointer } : null;
};

/** What `replace` returns is not searched for references, because an answer is data. */
const replaceReferences = (value: Json, path: string, replace: (reference: JsonObject, path: string) => Json): Json => {
  if (isReference(value)) return replace(value, path);
  if (isList(value)) return value.map((item, index) => replaceReferences(item, `${path}/${index}`, replace));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, it]) => [name, replaceReferences(it, `${path}/${escapePointer(name)}`, replace)]),
  );
};

export const pathShown = (path: string): string =>
  path.length > PATH_SHOWN_MAX ? `${path.slice(0, PATH_SHOWN_MAX)}…` : path;

export const referencesOf = (payload: Json): References => {
  const references: Reference[] = [];
  const malformed: MalformedReference[] = [];
  const refuse = (path: string, detail: string): void => {
    if (malformed.length < MALFORMED_MAX) malformed.push({ path: pathShown(path), detail });
  };
  replaceReferences(payload, "", (reference, path) => {
    const it = parsed(reference);
    if (it === null) refuse(path, MALFORMED);
    else if (references.length < REFERENCES_MAX) references.push({ path, ...it });
    else refuse(path, `is one more than ${REFERENCES_MAX} results in one payload`);
    return null;
  });
  return { references, malformed };
};

export const withReplacedReferences = (payload: Json, replace: (reference: Reference) => Json): Json =>
  replaceReferences(payload, "", (reference, path) => {
    const it = parsed(reference);
    return it === null ? reference : replace({ path, ...it });
  });

/** The path is split here, as it may be longer than `parseFieldPath` allows. */
export const fieldPathOf = ({ path }: Pick<Reference, "path">): FieldPath =>
  path
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));

/** True if the path leads to a reference, or into the value that replaces the reference. */
export const comesFromResult = (references: readonly Reference[], path: FieldPath): boolean => {
  const beginnings = path.map((_, levels) =>
    path.slice(0, levels + 1).reduce((to, name) => `${to}/${escapePointer(name)}`, ""),
  );
  return references.some((reference) => reference.path === "" || beginnings.includes(reference.path));
};

export type StepResult = { readonly body: Json } | { readonly missing: string };

/** If results are missing, the failure names the first of them. */
export const resolveReferences = (payload: Json, resultAt: (step: number) => StepResult): ResolvedPayload => {
  const missing: MalformedReference[] = [];
  const made = replaceReferences(payload, "", (reference, path) => {
    const it = parsed(reference);
    const result = it === null ? { missing: MALFORMED } : resultAt(it.step);
    const value = it === null || "missing" in result ? undefined : readField(result.body, pathOf(it.pointer) ?? []);
    if (value === undefined) {
      const why = "missing" in result ? result.missing : `has answered nothing at ${JSON.stringify(it?.pointer)}`;
      missing.push({ path, detail: it === null ? why : `step ${it.step} ${why}` });
      return null;
    }
    return value as Json;
  });
  const [first] = missing;
  return first === undefined
    ? { ok: true, payload: made }
    : { ok: false, path: pathShown(first.path), detail: first.detail };
};
