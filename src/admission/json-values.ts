import { type CelInput, type CelList, type CelMap, celList, celMap, isCelList, isCelMap } from "@bufbuild/cel";
import type { Meter } from "./meter.ts";

type JsonContainer = readonly unknown[] | Readonly<Record<string, unknown>>;

/** A text of this many characters weighs as much as a number: comparing and searching are that much faster. */
const CHARACTERS_PER_WEIGHT = 8;

/**
 * One event's JSON as CEL sees it. Wrapped by hand and on demand: the library takes an object with a `$typeName` for a
 * Protobuf message, with which a sender could show the rules other values than the receiver reads.
 */
export type JsonValues = {
  toCel(value: unknown): CelInput;
  /** How many values there are in one, texts by their length: what a comparison of it takes. */
  weigh(value: unknown): number;
};

/** A JSON object as the read-only map that `celMap` asks for. Own properties only. */
const ownMap = (
  object: Readonly<Record<string, unknown>>,
  toCel: JsonValues["toCel"],
  meter: Meter,
): ReadonlyMap<string, CelInput> => {
  const keys = Object.keys(object);
  const get = (key: unknown): CelInput | undefined => {
    if (typeof key === "string") return Object.hasOwn(object, key) ? toCel(object[key]) : undefined;
    // The library goes through all keys to find a number among them.
    meter.spend(keys.length);
    return undefined;
  };
  const entries = function* (): MapIterator<[string, CelInput]> {
    for (const key of keys) yield [key, toCel(object[key])];
  };
  const map: ReadonlyMap<string, CelInput> = {
    size: keys.length,
    get,
    has: (key) => Object.hasOwn(object, key),
    keys: () => keys.values(),
    values: () => keys.map((key) => toCel(object[key])).values(),
    entries,
    forEach(callback) {
      for (const key of keys) callback(toCel(object[key]), key, map);
    },
    [Symbol.iterator]: entries,
  };
  return map;
};

export const jsonValues = (meter: Meter): JsonValues => {
  const wrapped = new WeakMap<JsonContainer, CelList | CelMap>();
  const weights = new WeakMap<object, number>();

  const toCel = (value: unknown): CelInput => {
    switch (typeof value) {
      case "string":
      case "number":
      case "boolean":
        return value;
      case "object":
        return value === null ? null : wrap(value as JsonContainer); // JSON has no other objects.
      default:
        throw new TypeError(`${typeof value} is not JSON`);
    }
  };

  const wrap = (value: JsonContainer): CelList | CelMap => {
    const known = wrapped.get(value);
    if (known !== undefined) return known;
    const made = Array.isArray(value)
      ? celList(value.map(toCel))
      : celMap(ownMap(value as Readonly<Record<string, unknown>>, toCel, meter));
    wrapped.set(value, made);
    return made;
  };

  const elementsOf = (value: object): Iterable<unknown> => {
    // Maps of CEL iterate over their entries. Whatever else there is (a time, a duration, a type) is as good as a number.
    if (Array.isArray(value) || isCelList(value) || isCelMap(value)) return value;
    return Object.getPrototypeOf(value) === Object.prototype ? Object.values(value) : [];
  };

  const weigh = (value: unknown): number => {
    if (typeof value === "string") return 1 + Math.floor(value.length / CHARACTERS_PER_WEIGHT);
    if (value instanceof Uint8Array) return 1 + value.length;
    if (typeof value !== "object" || value === null) return 1;
    const known = weights.get(value);
    if (known !== undefined) return known;
    let weight = 1;
    for (const element of elementsOf(value)) weight += weigh(element);
    // Only these are weighed again, by every round of a comprehension.
    if (isCelList(value) || isCelMap(value)) weights.set(value, weight);
    return weight;
  };

  return { toCel, weigh };
};
