import type { Json, JsonObject } from "../json.ts";
import { sortTexts } from "./sort-texts.ts";

/** The names of an object's members in canonical order, and what is written before each member's value. */
type Order = { readonly names: readonly string[]; readonly before: readonly string[] };

/** Objects whose members have the same names in the same order so far, and the shapes that one more name leads to. */
type Shape = { readonly longer: Map<string, Shape>; order: Order | null };

/** Shapes that are remembered, some 200 bytes each. Records have some hundred; what agents send may have any number. */
const SHAPES_MAX = 4_096;
/** An object with more members, or with a longer name, is not remembered, so that nobody can fill the memory with names. */
const MEMBERS_MAX = 64;
const NAME_LENGTH_MAX = 64;

/** What JSON.stringify writes with an escape, and all surrogates, as a lone one is escaped as well. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are escaped in JSON.
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

const quoted = (text: string): string => (ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`);

const newShape = (): Shape => ({ longer: new Map(), order: null });

const orderOf = (members: readonly string[]): Order => {
  const names = sortTexts([...members]);
  return { names, before: names.map((name, n) => `${n === 0 ? "{" : ","}${JSON.stringify(name)}:`) };
};

const isRemembered = (members: readonly string[]): boolean =>
  members.length <= MEMBERS_MAX && members.every(({ length }) => length <= NAME_LENGTH_MAX);

/**
 * Writes values as canonical JSON. It remembers the order of the members of each shape of object that it has seen, and
 * copies no object: that takes half the time of sorting each object anew.
 */
export class CanonicalWriter {
  #shapes = newShape();
  #count = 0;

  write(value: Json): string {
    if (typeof value === "string") return quoted(value);
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    if (Array.isArray(value)) return this.#list(value);
    const object = value as JsonObject; // Array.isArray does not narrow a readonly array away.
    const members = Object.keys(object);
    if (members.length === 0) return "{}";
    const { names, before } = this.#orderOf(members);
    let text = "";
    for (let n = 0; n < names.length; n += 1) text += before[n] + this.write(object[names[n] ?? ""] ?? null);
    return `${text}}`;
  }

  #list(items: readonly Json[]): string {
    let text = "[";
    for (let n = 0; n < items.length; n += 1) text += (n === 0 ? "" : ",") + this.write(items[n] ?? null);
    return `${text}]`;
  }

  #orderOf(members: readonly string[]): Order {
    if (!isRemembered(members)) return orderOf(members);
    let shape = this.#shapes;
    for (const name of members) shape = shape.longer.get(name) ?? this.#add(shape, name);
    shape.order ??= orderOf(members);
    return shape.order;
  }

  #add(shape: Shape, name: string): Shape {
    // Whoever sends objects of ever new shapes makes all of them be learnt again, and nothing grows.
    if (this.#count >= SHAPES_MAX) {
      this.#shapes = newShape();
      this.#count = 0;
    }
    const longer = newShape();
    shape.longer.set(name, longer);
    this.#count += 1;
    return longer;
  }
}
