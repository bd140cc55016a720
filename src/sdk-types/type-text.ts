import { quoted } from "./source-text.ts";

/** `binds` says what joins the parts of the text, and so whether it needs brackets inside `&`, `|` or an array. */
export type Type = { readonly text: string; readonly binds: "alone" | "and" | "or" | "array" };

const alone = (text: string): Type => ({ text, binds: "alone" });

export const UNKNOWN = alone("unknown");
export const NEVER = alone("never");
export const NULL = alone("null");
export const BOOLEAN = alone("boolean");
export const NUMBER = alone("number");
export const STRING = alone("string");

const bracketed = ({ text }: Type): string => `(${text})`;

export const union = (types: readonly Type[]): Type => {
  if (types.some(({ text }) => text === UNKNOWN.text)) return UNKNOWN;
  const texts = new Set(types.map(({ text }) => text).filter((text) => text !== NEVER.text));
  const [first, ...others] = types.filter(({ text }) => texts.delete(text));
  if (first === undefined) return NEVER;
  return others.length === 0 ? first : { text: [first, ...others].map(({ text }) => text).join(" | "), binds: "or" };
};

export const intersection = (types: readonly Type[]): Type => {
  const [first, ...others] = types.filter(({ text }) => text !== UNKNOWN.text);
  if (first === undefined) return UNKNOWN;
  if (others.length === 0) return first;
  const texts = [first, ...others].map((type) => (type.binds === "or" ? bracketed(type) : type.text));
  return { text: texts.join(" & "), binds: "and" };
};

const elements = (of: Type): string => `${of.binds === "alone" ? of.text : bracketed(of)}[]`;

export const arrayOf = (of: Type): Type => ({ text: `readonly ${elements(of)}`, binds: "array" });

/** Elements of `first` from the index `required` on are optional. Any number of elements of the type `rest` follow. */
export const tupleOf = (first: readonly Type[], required: number, rest: Type): Type => {
  const own = first.map((type, at) => (at < required ? type.text : `${bracketed(type)}?`));
  const all = rest.text === NEVER.text ? own : [...own, `...${elements(rest)}`];
  return { text: `readonly [${all.join(", ")}]`, binds: "array" };
};

export type Member = {
  readonly name: string;
  readonly type: Type;
  readonly required: boolean;
  readonly comment: string;
};

/** `others` is the type of the members that `members` does not name; undefined if there may be none. */
export const objectOf = (members: readonly Member[], others: Type | undefined, indent: string): Type => {
  const inner = `${indent}  `;
  const lines = members.map(({ name, type, required, comment }) => {
    // A member that is undefined is left out of JSON, so an optional member may be undefined as well.
    const value = required ? type : union([type, alone("undefined")]);
    return `${comment}${inner}readonly ${quoted(name)}${required ? "" : "?"}: ${value.text};\n`;
  });
  if (others !== undefined) lines.push(`${inner}readonly [name: string]: ${others.text};\n`);
  return alone(`{\n${lines.join("")}${indent}}`);
};

export const literal = (value: unknown): Type => {
  if (typeof value === "string") return alone(quoted(value));
  // A number of JSON that no double can hold was read as Infinity, so its type is `number`.
  if (typeof value === "number") return Number.isFinite(value) ? alone(String(value)) : NUMBER;
  if (typeof value === "boolean") return alone(String(value));
  if (value === null) return NULL;
  return UNKNOWN;
};
