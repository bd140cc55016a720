import { readField } from "../../domain/gate/field-path.ts";
import { headerText } from "./headers.ts";
import type { WebhookRequest } from "./request.ts";

export type Field = (request: WebhookRequest) => string | null;

export const header =
  (name: string): Field =>
  ({ headers }) =>
    headerText(headers, name);

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

/** The field `begin` and the field `end` with `joint` between them; `begin` alone if the request has no `end`. */
export const joined =
  (joint: string, begin: Field, end: Field): Field =>
  (request) => {
    const beginning = begin(request);
    const ending = end(request);
    return beginning === null || ending === null ? beginning : beginning + joint + ending;
  };
