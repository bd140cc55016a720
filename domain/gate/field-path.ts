/** One name a level. */
export type FieldPath = readonly string[];

/** Bounds the cost of a look-up; no provider's payload needs more. */
export const PATH_LENGTH_MAX = 256;
export const PATH_LEVELS_MAX = 32;

/** RFC 6901, section 3: "~" only as "~0" or "~1". */
const unescapePointer = (token: string): string | null =>
  /~(?![01])/.test(token) ? null : token.replaceAll("~1", "/").replaceAll("~0", "~");

/** One token of a JSON Pointer (RFC 6901, section 3). */
export const escapePointer = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/**
 * Dotted (`data.object.id`, list positions as numbers) or a JSON Pointer (`/data/object/id`, RFC 6901), which also
 * reaches names with dots. Null if invalid or over the limits.
 */
export const parseFieldPath = (text: string): FieldPath | null => {
  if (text.length === 0 || text.length > PATH_LENGTH_MAX) return null;
  const path: string[] = [];
  if (text.startsWith("/")) {
    for (const token of text.slice(1).split("/")) {
      const name = unescapePointer(token);
      if (name === null) return null;
      path.push(name);
    }
  } else {
    path.push(...text.split("."));
    if (path.includes("")) return null;
  }
  return path.length > PATH_LEVELS_MAX ? null : path;
};

/** RFC 6901, section 4: no sign, no leading zero. */
export const isPosition = (name: string): boolean => /^(?:0|[1-9][0-9]{0,8})$/.test(name);

/** Own properties only, so that nothing is read from a prototype. */
export const readField = (document: unknown, path: FieldPath): unknown => {
  let value = document;
  for (const name of path) {
    if (typeof value !== "object" || value === null) return undefined;
    if (Array.isArray(value)) {
      if (!isPosition(name)) return undefined;
      value = value[Number(name)];
    } else {
      if (!Object.hasOwn(value, name)) return undefined;
      // An own property of parsed JSON.
      value = (value as Readonly<Record<string, unknown>>)[name];
    }
  }
  return value;
};

/**
 * Whether a path crosses a value that cannot have its next name: text, a number, or a list without a position. The
 * field is then unknown, while in an object it would be absent.
 */
export const isBlocked = (document: unknown, path: FieldPath): boolean => {
  let value = document;
  for (const name of path) {
    if (value === undefined || value === null) return false;
    if (typeof value !== "object" || (Array.isArray(value) && !isPosition(name))) return true;
    value = readField(value, [name]);
  }
  return false;
};

/** Null counts as missing, because providers send it for "none". Empty text, 0 and false are values. */
export const isPresent = (document: unknown, path: FieldPath): boolean => {
  const value = readField(document, path);
  return value !== undefined && value !== null;
};
