import { escapePointer } from "../../domain/gate/field-path.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { DefinitionError } from "./policy-input.ts";

const SCHEMA_BYTES_MAX = 32 * 1024;
/** A schema nests twice for each level of the payload (`properties`, then the name), so 16 allow eight levels. */
const SCHEMA_DEPTH_MAX = 16;
/** Counted with every $ref written out, because nested references grow exponentially. This many compile in 0.2 s. */
const SCHEMA_PARTS_MAX = 2_000;
/** The most items in a list with `uniqueItems`, which compares every item with every other one. */
const UNIQUE_ITEMS_MAX = 100;

/** These keywords are refused, because they lead to other documents or are resolved only at run time. */
const REFUSED = ["$async", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "id"];
const DEFINITIONS: ReadonlySet<string> = new Set(["$defs", "definitions"]);

export type MeasuredSchema = { readonly parts: number; readonly errors: readonly DefinitionError[] };

const isContainer = (value: unknown): value is JsonObject => typeof value === "object" && value !== null;

/** Reads the fragment form of a JSON Pointer (RFC 6901, section 6), such as `#/$defs/name`; null for any other $ref. */
const tokensOf = (ref: string): readonly string[] | null => {
  if (ref === "#") return [];
  if (!ref.startsWith("#/")) return null;
  try {
    const pointer = decodeURIComponent(ref.slice(2));
    return pointer.split("/").map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
  } catch {
    return null;
  }
};

const resolve = (root: JsonObject, ref: string): JsonObject | null => {
  let value: unknown = root;
  for (const token of tokensOf(ref) ?? ["\0"]) {
    if (!isContainer(value) || !Object.hasOwn(value, token)) return null;
    value = value[token];
  }
  return isContainer(value) ? value : null;
};

/** A property may be named like a refused keyword; its value is then its schema, an object, neither text nor true. */
const checkPart = (part: JsonObject, path: string, depth: number, report: (error: DefinitionError) => void): void => {
  for (const name of REFUSED) {
    if (typeof part[name] === "string" || part[name] === true) {
      report({ path: `${path}/${name}`, message: "is not offered in a policy's schema" });
    }
  }
  if (typeof part.$id === "string" && depth > 1) {
    report({ path: `${path}/$id`, message: "is only possible at the top of a schema" });
  }
  if (part.uniqueItems === true && !(typeof part.maxItems === "number" && part.maxItems <= UNIQUE_ITEMS_MAX)) {
    report({ path: `${path}/uniqueItems`, message: `needs a maxItems of at most ${UNIQUE_ITEMS_MAX} beside it` });
  }
};

/** Refuses a schema that refers to itself, because only the payload would limit the work of its checks. */
export const measureSchema = (schema: JsonObject): MeasuredSchema => {
  const errors: DefinitionError[] = [];
  const report = (error: DefinitionError): void => {
    errors.push(error);
  };
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > SCHEMA_BYTES_MAX) {
    report({ path: "", message: `has ${bytes} bytes, at most ${SCHEMA_BYTES_MAX} are possible` });
    return { parts: 0, errors };
  }

  const check = (part: JsonObject, path: string, depth: number): void => {
    if (depth > SCHEMA_DEPTH_MAX) {
      report({ path, message: `is more than ${SCHEMA_DEPTH_MAX} levels deep` });
      return;
    }
    checkPart(part, path, depth, report);
    for (const [name, inner] of Object.entries(part)) {
      if (isContainer(inner)) check(inner, `${path}/${escapePointer(name)}`, depth + 1);
    }
  };
  check(schema, "", 1);
  if (errors.length > 0) return { parts: 0, errors };

  const counted = new Map<JsonObject, number>();
  const open = new Set<JsonObject>();
  const count = (part: JsonObject): number => {
    const known = counted.get(part);
    if (known !== undefined) return known;
    if (open.has(part)) {
      report({ path: "", message: "refers to itself: a recursive $ref is not offered in a policy's schema" });
      return 0;
    }
    open.add(part);
    let parts = 1;
    for (const [name, inner] of Object.entries(part)) {
      if (name === "$ref" && typeof inner === "string") {
        const target = resolve(schema, inner);
        if (target === null) report({ path: "", message: `"$ref": "${inner}" leads nowhere inside this schema` });
        else parts += count(target);
      } else if (isContainer(inner)) parts += DEFINITIONS.has(name) ? 0 : count(inner);
      else parts += 1;
    }
    open.delete(part);
    counted.set(part, parts);
    return parts;
  };
  const parts = count(schema);
  if (parts > SCHEMA_PARTS_MAX) {
    report({ path: "", message: `has over ${SCHEMA_PARTS_MAX} parts with every $ref written out` });
  }
  return { parts, errors };
};
