export type FieldPath = readonly string[];

/** Characters of a path: the limit bounds the time of a look-up, and no provider's payload needs a longer one. */
export const PATH_LENGTH_MAX = 256;
export const PATH_LEVELS_MAX = 32;

/** Null if the token has a "~" that begins neither "~0" nor "~1" (RFC 6901, section 3). */
const unescapePointer = (token: string): string | null =>
  /~(?![01])/.test(token) ? null : token.replaceAll("~1", "/").replaceAll("~0", "~");

export const escapePointer = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/** A path is dotted (`data.object.id`) or a JSON Pointer (RFC 6901), which reaches names with dots. Null if invalid. */
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

/** True for a position in a list, which has no sign and no leading zero (RFC 6901, section 4). */
export const isPosition = (name: string): boolean => /^(?:0|[1-9][0-9]{0,8})$/.test(name);

/** Reads own properties only, so that nothing comes from a prototype. */
export const readField = (document: unknown, path: FieldPath): unknown => {
  let value = document;
  for (const name of path) {
    if (typeof value !== "object" || value === null) return undefined;
    if (Array.isArray(value)) {
      if (!isPosition(name)) return undefined;
      value = value[Number(name)];
    } else {
      if (!Object.hasOwn(value, name)) return undefined;
      value = (value as Readonly<Record<string, unknown>>)[name];
    }
  }
  return value;
};

/** True if the path crosses text, a number, or a list without a position: the field is unknown and not absent. */
export const isBlocked = (document: unknown, path: FieldPath): boolean => {
  let value = document;
  for (const name of path) {
    if (value === undefined || value === null) return false;
    if (typeof value !== "object" || (Array.isArray(value) && !isPosition(name))) return true;
    value = readField(value, [name]);
  }
  return false;
};

/** Null counts as missing, because providers send it for "none". */
export const isPresent = (document: unknown, path: FieldPath): boolean => {
  const value = readField(document, path);
  return value !== undefined && value !== null;
};
