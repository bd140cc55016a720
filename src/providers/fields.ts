import { readField } from "../../domain/gate/field-path.ts";
import { headerText } from "./headers.ts";
import type { WebhookRequest } from "./request.ts";

/** A text found in a request; null when it is not there. */
export type Field = (request: WebhookRequest) => string | null;

export const header =
  (name: string): Field =>
  ({ headers }) =>
    headerText(headers, name);

/** Text that can stand in a key: a non-empty string, or a number or boolean as it is printed. */
const textOf = (value: unknown): string | null => {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : null;
};

export const textAt = (document: unknown, path: readonly string[]): string | null => textOf(readField(document, path));

export const inBody =
  (...path: readonly string[]): Field =>
  ({ json }) =>
    textAt(json(), path);

export const none: Field = () => null;

export const firstOf =
  (...fields: readonly Field[]): Field =>
  (request) => {
    for (const field of fields) {
      const found = field(request);
      if (found !== null) return found;
    }
    return null;
  };

/** `begin`, and `end` behind it when there is one. */
export const joined =
  (joint: string, begin: Field, end: Field): Field =>
  (request) => {
    const beginning = begin(request);
    const ending = end(request);
    return beginning === null || ending === null ? beginning : beginning + joint + ending;
  };
