import { type CelInput, type CelList, type CelMap, type CelValue, isCelList, isCelMap } from "@bufbuild/cel";
import type { Meter } from "./meter.ts";

type JsonObject = Readonly<Record<string, unknown>>;
type JsonContainer = readonly unknown[] | JsonObject;

/** Visiting one value: to compare it, to wrap it, to go on to the next. */
const VALUE_WORK = 10;
/** Wrapping one container, which is remembered. */
const WRAP_WORK = 100;
/** Listing one key of an object that has many. */
const KEY_WORK = 40;
/** Characters that are compared in the time of one unit. */
const CHARACTERS_PER_WORK = 32;

/** By these symbols the library (0.6.1, `list.js`, `map.js`) knows its lists and maps. */
const LIST_SYMBOL = Symbol.for("@bufbuild/cel/list");
const MAP_SYMBOL = Symbol.for("@bufbuild/cel/map");

/**
 * One event's JSON as CEL sees it. Wrapped by hand: the library takes an object with a `$typeName` for a Protobuf
 * message, with which a sender could show the rules other values than the receiver reads. Wrapped on demand: a payload of
 * 900 kB may hold 300,000 lists, of which a rule reads one.
 */
export type JsonValues = {
  toCel(value: unknown): CelInput;
  /**
   * What it takes to visit all of a value, in units of the meter. The first time, the visit itself is paid: throws
   * `TooCostly`.
   */
  weigh(value: unknown): number;
};

type Wrap = (value: unknown) => CelValue;

/** The library's lists wrap all elements at once. */
class JsonList {
  readonly [LIST_SYMBOL] = true;
  readonly #elements: readonly unknown[];
  readonly #wrap: Wrap;

  constructor(elements: readonly unknown[], wrap: Wrap) {
    this.#elements = elements;
    this.#wrap = wrap;
  }

  get size(): number {
    return this.#elements.length;
  }

  get(index: number): CelValue | undefined {
    // CEL's integers are bigint, which are a property's name as well.
    const element = this.#elements[index];
    return element === undefined ? undefined : this.#wrap(element);
  }

  *values(): IterableIterator<CelValue> {
    for (const element of this.#elements) yield this.#wrap(element);
  }

  [Symbol.iterator](): IterableIterator<CelValue> {
    return this.values();
  }
}

/** Own properties only. The library's maps go through all keys to find a number among them. */
class JsonMap {
  readonly [MAP_SYMBOL] = true;
  readonly #object: JsonObject;
  readonly #wrap: Wrap;
  readonly #meter: Meter;
  #keys: readonly string[] | null = null;

  constructor(object: JsonObject, wrap: Wrap, meter: Meter) {
    this.#object = object;
    this.#wrap = wrap;
    this.#meter = meter;
  }

  get #names(): readonly string[] {
    if (this.#keys === null) {
      this.#keys = Object.keys(this.#object);
      this.#meter.spend(this.#keys.length * KEY_WORK);
    }
    return this.#keys;
  }

  get size(): number {
    return this.#names.length;
  }

  get(key: unknown): CelValue | undefined {
    return typeof key === "string" && Object.hasOwn(this.#object, key) ? this.#wrap(this.#object[key]) : undefined;
  }

  has(key: unknown): boolean {
    // As the library's maps: a key whose value is null is not there.
    return (this.get(key) ?? null) !== null;
  }

  keys(): IterableIterator<string> {
    return this.#names.values();
  }

  *values(): IterableIterator<CelValue> {
    for (const key of this.#names) yield this.#wrap(this.#object[key]);
  }

  *entries(): IterableIterator<[string, CelValue]> {
    for (const key of this.#names) yield [key, this.#wrap(this.#object[key])];
  }

  forEach(callback: (value: CelValue, key: string, map: JsonMap) => void): void {
    for (const [key, value] of this.entries()) callback(value, key, this);
  }

  [Symbol.iterator](): IterableIterator<[string, CelValue]> {
    return this.entries();
  }
}

export const jsonValues = (meter: Meter): JsonValues => {
  const wrapped = new WeakMap<JsonContainer, CelList | CelMap>();
  const weights = new WeakMap<object, number>();

  const toCel: Wrap = (value) => {
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
    meter.spend(WRAP_WORK);
    const made = Array.isArray(value) ? new JsonList(value, toCel) : new JsonMap(value as JsonObject, toCel, meter);
    // The library's types hide the symbol by which it knows its own.
    const asCel = made as unknown as CelList | CelMap;
    wrapped.set(value, asCel);
    return asCel;
  };

  const elementsOf = (value: object): Iterable<unknown> => {
    // Maps of CEL iterate over their entries. Whatever else there is (a time, a duration, a type) is as good as a number.
    if (Array.isArray(value) || isCelList(value) || isCelMap(value)) return value;
    return Object.getPrototypeOf(value) === Object.prototype ? Object.values(value) : [];
  };

  const weigh = (value: unknown): number => {
    if (typeof value === "string") return VALUE_WORK + Math.floor(value.length / CHARACTERS_PER_WORK);
    if (value instanceof Uint8Array) return VALUE_WORK + value.length;
    if (typeof value !== "object" || value === null) return VALUE_WORK;
    const known = weights.get(value);
    if (known !== undefined) return known;
    let weight = VALUE_WORK;
    for (const element of elementsOf(value)) {
      meter.spend(VALUE_WORK);
      weight += weigh(element);
    }
    // Only these are weighed again, by every round of a comprehension.
    if (isCelList(value) || isCelMap(value)) weights.set(value, weight);
    return weight;
  };

  return { toCel, weigh };
};
