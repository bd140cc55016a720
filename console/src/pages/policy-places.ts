import { jsonLanguage } from "@codemirror/lang-json";
import type { PolicyProblem } from "./policy-problem.ts";

/** Where in the text of a policy a JSON Pointer points. Pure. */

type Range = { readonly from: number; readonly to: number };
type Node = ReturnType<typeof jsonLanguage.parser.parse>["topNode"];

type Member = {
  /** Null in a list, and for the whole text. */
  readonly name: Range | null;
  readonly value: Range;
};

const VALUES = ["True", "False", "Null", "Number", "String", "Object", "Array"];

const childrenOf = (node: Node): readonly Node[] => {
  const all: Node[] = [];
  for (let it = node.firstChild; it !== null; it = it.nextSibling) all.push(it);
  return all;
};

const isValue = ({ name }: Node): boolean => VALUES.includes(name);

const partOf = (quoted: string): string => {
  try {
    return String(JSON.parse(quoted)).replaceAll("~", "~0").replaceAll("/", "~1");
  } catch {
    return "";
  }
};

const addMembers = (text: string, node: Node, pointer: string, found: Map<string, Member>): void => {
  if (node.name === "Array")
    for (const [at, value] of childrenOf(node).filter(isValue).entries()) {
      found.set(`${pointer}/${at}`, { name: null, value });
      addMembers(text, value, `${pointer}/${at}`, found);
    }
  if (node.name !== "Object") return;
  for (const property of node.getChildren("Property")) {
    const name = property.getChild("PropertyName");
    const value = childrenOf(property).find(isValue);
    if (name === null || value === undefined) continue;
    const path = `${pointer}/${partOf(text.slice(name.from, name.to))}`;
    found.set(path, { name, value });
    addMembers(text, value, path, found);
  }
};

const membersOf = (text: string, top: Node): ReadonlyMap<string, Member> => {
  const found = new Map<string, Member>();
  const value = childrenOf(top).find(isValue);
  if (value === undefined) return found;
  found.set("", { name: null, value });
  addMembers(text, value, "", found);
  return found;
};

/** Where the text stops to be JSON; null if it is. */
const faultOf = (text: string): Range | null => {
  let found: Range | null = null;
  jsonLanguage.parser.parse(text).iterate({
    enter: ({ type, from, to }) => {
      if (type.isError) found ??= { from, to };
    },
  });
  return found;
};

const rangeOf = (text: string, members: ReadonlyMap<string, Member>, { path, name }: PolicyProblem): Range => {
  const member = members.get(path);
  // What is missing is told where it belongs.
  if (member === undefined)
    return path === ""
      ? { from: 0, to: 0 }
      : rangeOf(text, members, { path: path.replace(/\/[^/]*$/, ""), message: "" });
  const written = text.slice(member.value.from, member.value.to);
  if (name !== undefined && member.name !== null && path.endsWith(`/${partOf(JSON.stringify(name))}`))
    return member.name;
  const [at = -1] = name === undefined ? [] : [written.indexOf(name)];
  if (at >= 0) return { from: member.value.from + at, to: member.value.from + at + (name?.length ?? 0) };
  return /^[{[]/.test(written) ? (member.name ?? { from: member.value.from, to: member.value.from + 1 }) : member.value;
};

export type Placed = Range & { readonly problem: PolicyProblem };

/** Each problem with the characters that it is about, in their order: at least one unless the text is empty. */
export const placed = (text: string, problems: readonly PolicyProblem[]): readonly Placed[] => {
  const fault = faultOf(text);
  const members = membersOf(text, jsonLanguage.parser.parse(text).topNode);
  const all = problems.map((problem) => {
    const range = fault ?? rangeOf(text, members, problem);
    const from = Math.max(0, Math.min(range.from, text.length - 1));
    return { problem, from, to: Math.min(text.length, Math.max(range.to, from + 1)) };
  });
  return all.sort((a, b) => a.from - b.from);
};

/** The conditions, which are written in CEL, with their quotes. */
export const conditionsOf = (text: string): readonly Range[] =>
  [...membersOf(text, jsonLanguage.parser.parse(text).topNode)]
    .filter(([path]) => /^\/(?:deny\/\d+|approval)\/when$/.test(path))
    .map(([, { value }]) => value);
