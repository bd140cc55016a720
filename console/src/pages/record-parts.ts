import { euro, shortId } from "../../design/format.ts";

/** What a sentence is made from. Another version of the service may have written the record: nothing is taken for granted. */
export type Parts = {
  readonly text: (field: string) => string;
  readonly count: (field: string) => number;
  /** Micro-euros as `€12.40`; empty if no cost was determined. */
  readonly cost: (field: string) => string;
  /** The name of the thing whose id is in the field. */
  readonly named: (field: string) => string;
  readonly part: (field: string) => Parts;
  readonly list: (field: string) => readonly Parts[];
};

const MICRO = 1_000_000;

export const fieldIn = (data: unknown, field: string): unknown =>
  typeof data === "object" && data !== null && Object.hasOwn(data, field) ? Reflect.get(data, field) : undefined;

export type NameOf = (id: string | null) => string | null;

export const partsOf = (data: unknown, nameOf: NameOf): Parts => {
  const text = (field: string): string => {
    const value = fieldIn(data, field);
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  };
  return {
    text,
    count: (field) => Number(text(field)) || 0,
    cost: (field) => (typeof fieldIn(data, field) === "number" ? euro(Number(text(field)) / MICRO) : ""),
    named: (field) => (text(field) === "" ? "" : (nameOf(text(field)) ?? shortId(text(field)))),
    part: (field) => partsOf(fieldIn(data, field), nameOf),
    list(field) {
      const value = fieldIn(data, field);
      return Array.isArray(value) ? value.map((it) => partsOf(it, nameOf)) : [];
    },
  };
};
