import type { Json, JsonObject } from "../../../domain/json.ts";

/** What is wrong with a control file, as a sentence that begins with the place: `controls[0].claims[1].query: …`. */
export class BadControlFile extends Error {
  override readonly name = "BadControlFile";
}

/** A value of a control file with its place in the file. */
export type Node = { readonly value: Json | undefined; readonly place: string };

export const bad = ({ place }: Node, sentence: string): BadControlFile => new BadControlFile(`${place}: ${sentence}`);

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isPresent = ({ value }: Node): boolean => value !== undefined;

export const member = (node: Node, name: string): Node => {
  const { value, place } = node;
  const found = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return { value: found, place: place === "" ? name : `${place}.${name}` };
};

/** Refuses a value that is no object, and any member that is not in `known`, because it may be a misspelled rule. */
export const objectOf = (node: Node, known: readonly string[]): Node => {
  if (!isObject(node.value)) throw bad(node, `an object is needed, with ${known.join(", ")}`);
  const strange = Object.keys(node.value).find((name) => !known.includes(name));
  if (strange !== undefined) throw bad(node, `there is no member "${strange}"; known are ${known.join(", ")}`);
  return node;
};

export const textOf = (node: Node, max: number): string => {
  const { value } = node;
  if (typeof value !== "string" || value.trim() === "") throw bad(node, "a text is needed");
  if (value.length > max) throw bad(node, `the text has ${value.length} characters; at most ${max} are allowed`);
  return value;
};

export const numberOf = (node: Node): number => {
  if (typeof node.value !== "number" || !Number.isFinite(node.value)) throw bad(node, "a number is needed");
  return node.value;
};

export const countOf = (node: Node, max: number): number => {
  const number = numberOf(node);
  if (!Number.isInteger(number) || number < 0 || number > max) {
    throw bad(node, `a whole number from 0 to ${max} is needed`);
  }
  return number;
};

export const booleanOf = (node: Node): boolean => {
  if (typeof node.value !== "boolean") throw bad(node, "true or false is needed");
  return node.value;
};

export const oneOf = <T extends string>(node: Node, known: readonly T[]): T => {
  const found = known.find((it) => it === node.value);
  if (found === undefined) throw bad(node, `one of these is needed: ${known.join(", ")}`);
  return found;
};

export const listOf = (node: Node, max: number): readonly Node[] => {
  const { value, place } = node;
  if (!Array.isArray(value) || value.length === 0) throw bad(node, "a list with at least one element is needed");
  if (value.length > max) throw bad(node, `the list has ${value.length} elements; at most ${max} are allowed`);
  return value.map((element: Json, index) => ({ value: element, place: `${place}[${index}]` }));
};
