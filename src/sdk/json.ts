export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What was asked for, by the body of an answer of any status; null when it is not that. */
export type Read<T> = (body: JsonObject, replayed: boolean) => T | null;

/** Undefined for what is no JSON, as the page of a proxy. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
