import { type CelInput, type CelList, type CelMap, type CelValue, isCelList, isCelMap } from "@bufbuild/cel";
import type { Meter } from "./meter.ts";

type JsonObject = Readonly<Record<string, unknown>>;
type JsonContainer = readonly unknown[] | JsonObject;

const VALUE_WORK = 10;
const WRAP_WORK = 100;
const KEY_WORK = 40;
/** One unit of the meter pays for the comparison of this many characters. */
const CHARACTERS_PER_WORK = 32;

/** The library (0.6.1) recognises its lists and maps by these symbols. */
const LIST_SYMBOL = Symbol.for("@bufbuild/cel/list");
const MAP_SYMBOL = Symbol.for("@bufbuild/cel/map");

/**
 * JSON is wrapped here because the library takes an object with a `$typeName` for a Protobuf message, so that rules
 * could read other values than the receiver. It is wrapped lazily, because a rule reads few values of a large payload.
 */
export type JsonValues = {
  toCel(value: unknown): CelInput;
  /** Units that one visit of the value takes. The first call visits it and pays, so it can throw `TooCostly`. */
  weigh(value: unknown): number;
};

type Wrap = (value: unknown) => CelValue;

/** Wraps an element when it is read; the library's own lists wrap all elements at once. */
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

/** Answers at once that a number is no key; the library's own maps search all keys for it. */
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
    // The library's maps also treat a key with the value null as absent.
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
    // The library's types hide the symbol by which it recognises its own values.
    const asCel = made as typeof made & (CelList | CelMap);
    wrapped.set(value, asCel);
    return asCel;
  };

  const elementsOf = (value: object): Iterable<unknown> => {
    // CEL maps iterate over their entries. Times, durations and types weigh as much as a number.
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
    if (isCelList(value) || isCelMap(value)) weights.set(value, weight);
    return weight;
  };

  return { toCel, weigh };
};
