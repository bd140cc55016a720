import type { Json } from "../../domain/json.ts";
import type { Expected } from "./query/counting.ts";
import { queryIn } from "./query/parse-query.ts";
import type { Query } from "./query/query.ts";
import {
  BadControlFile,
  bad,
  countOf,
  isPresent,
  listOf,
  member,
  type Node,
  objectOf,
  textOf,
} from "./query/reader.ts";

export type Claim = {
  readonly id: string;
  readonly statement: string;
  readonly query: Query;
  readonly expected: Expected;
  /** The query as the file has it, which the pack repeats. */
  readonly source: Json;
};

export type Control = {
  readonly id: string;
  readonly title: string;
  /** What the records may support, and for which part of the control. */
  readonly maySupport: string;
  readonly claims: readonly Claim[];
  readonly notEvidenced: readonly string[];
};

export type ControlFile = {
  readonly id: string;
  readonly title: string;
  /** The document and edition whose numbers the controls have. */
  readonly source: string;
  readonly controls: readonly Control[];
  readonly notEvidenced: readonly string[];
};

const CONTROLS_MAX = 100;
const CLAIMS_MAX = 50;
const NOT_EVIDENCED_MAX = 50;
const TEXT_MAX = 1_000;
const COUNT_MAX = 1_000_000_000;

/** Ids stand in file names, lists and the manifest, where a space or a comma would separate them. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/;

const idOf = (node: Node): string => {
  const text = textOf(node, TEXT_MAX);
  if (!ID.test(text)) throw bad(node, "an id has 1 to 40 letters, digits, dots, dashes and underscores");
  return text;
};

/**
 * A claim of compliance is an auditor's judgement, which no record makes. The check is of the words alone, so it only
 * catches a careless file.
 */
const CLAIMS_COMPLIANCE = /\b(?:compl(?:y|ies|iant|iance)|certif(?:y|ies|ied)|guarantees?)\b/i;

const sentenceOf = (node: Node): string => {
  const text = textOf(node, TEXT_MAX);
  if (CLAIMS_COMPLIANCE.test(text)) {
    throw bad(node, "say what the records may support; that something complies is for an auditor to say");
  }
  return text;
};

const noRepeat = (ids: readonly string[], node: Node): void => {
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined) throw bad(node, `the id "${repeated}" is there twice`);
};

const sentencesIn = (node: Node): readonly string[] => listOf(node, NOT_EVIDENCED_MAX).map(sentenceOf);

const expectedIn = (node: Node, query: Query): Expected => {
  if (!isPresent(node)) return { atLeast: null, atMost: null };
  objectOf(node, ["at_least", "at_most"]);
  if (query.ask === "every" || query.ask === "budgets") throw bad(node, `"${query.ask}" says itself what is expected`);
  const limit = (name: string): number | null => {
    const found = member(node, name);
    return isPresent(found) ? countOf(found, COUNT_MAX) : null;
  };
  return { atLeast: limit("at_least"), atMost: limit("at_most") };
};

const claimIn = (node: Node): Claim => {
  objectOf(node, ["id", "statement", "query", "expect"]);
  const source = member(node, "query");
  const query = queryIn(source);
  return {
    id: idOf(member(node, "id")),
    statement: sentenceOf(member(node, "statement")),
    query,
    expected: expectedIn(member(node, "expect"), query),
    source: source.value ?? null,
  };
};

const controlIn = (node: Node): Control => {
  objectOf(node, ["id", "title", "may_support", "claims", "not_evidenced"]);
  const claims = listOf(member(node, "claims"), CLAIMS_MAX).map(claimIn);
  noRepeat(
    claims.map(({ id }) => id),
    member(node, "claims"),
  );
  return {
    id: idOf(member(node, "id")),
    title: sentenceOf(member(node, "title")),
    maySupport: sentenceOf(member(node, "may_support")),
    claims,
    notEvidenced: sentencesIn(member(node, "not_evidenced")),
  };
};

/** Throws `BadControlFile`. A control that says nothing about what is not evidenced is refused, because none evidences all. */
export const controlFileIn = (json: Json): ControlFile => {
  const root: Node = { value: json, place: "" };
  if (member(root, "v").value !== 1) throw new BadControlFile("v: this build reads control files of version 1");
  objectOf(root, ["v", "id", "title", "source", "controls", "not_evidenced"]);
  const controls = listOf(member(root, "controls"), CONTROLS_MAX).map(controlIn);
  noRepeat(
    controls.map(({ id }) => id),
    member(root, "controls"),
  );
  return {
    id: idOf(member(root, "id")),
    title: sentenceOf(member(root, "title")),
    source: textOf(member(root, "source"), TEXT_MAX),
    controls,
    notEvidenced: sentencesIn(member(root, "not_evidenced")),
  };
};
