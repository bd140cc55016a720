import { isScalar, type Pointer, pointerOf, type Scalar, scalarKey, TOKENS_MAX } from "./pointer.ts";
import {
  type Comparison,
  type Condition,
  type Filter,
  type Need,
  type Query,
  type Reference,
  SUBJECT,
  type Test,
} from "./query.ts";
import {
  bad,
  booleanOf,
  countOf,
  isObject,
  isPresent,
  listOf,
  member,
  type Node,
  numberOf,
  objectOf,
  oneOf,
  textOf,
} from "./reader.ts";

const NAME_MAX = 200;
const VALUES_MAX = 100;
const CONDITIONS_MAX = 20;
const NEEDS_MAX = 8;
const ALTERNATIVES_MAX = 8;
const SHOWN_MAX = 12;
const ROWS_MAX = 200;
const ROWS_DEFAULT = 20;
const VOTES_MAX = 1_000;

const ACTORS = ["member", "key", "agent", "source", "system"] as const;
const TESTS = ["is", "is_not", "in", "not_in", "at_least", "at_most", "exists", "some"] as const;

const pointerIn = (node: Node): Pointer => {
  const pointer = typeof node.value === "string" ? pointerOf(node.value) : null;
  if (pointer === null) {
    throw bad(node, `a JSON Pointer with at most ${TOKENS_MAX} parts is needed, such as /data/approval_id`);
  }
  return pointer;
};

const scalarIn = (node: Node): Scalar => {
  if (node.value === undefined || !isScalar(node.value))
    throw bad(node, "a text, a number, true, false or null is needed");
  return node.value;
};

const valuesIn = (node: Node): ReadonlySet<string> =>
  new Set(listOf(node, VALUES_MAX).map((it) => scalarKey(scalarIn(it))));

const oneValue = (node: Node): ReadonlySet<string> => new Set([scalarKey(scalarIn(node))]);

const testIn = (node: Node, name: (typeof TESTS)[number]): Test => {
  const value = member(node, name);
  switch (name) {
    case "is":
      return { kind: "in", values: oneValue(value) };
    case "is_not":
      return { kind: "not-in", values: oneValue(value) };
    case "in":
      return { kind: "in", values: valuesIn(value) };
    case "not_in":
      return { kind: "not-in", values: valuesIn(value) };
    case "at_least":
      return { kind: "at-least", number: numberOf(value) };
    case "at_most":
      return { kind: "at-most", number: numberOf(value) };
    case "exists":
      return { kind: "exists", exists: booleanOf(value) };
    case "some":
      return { kind: "some", where: conditionsIn(value) };
  }
};

const conditionIn = (node: Node): Condition => {
  objectOf(node, ["at", ...TESTS]);
  const [name, ...others] = TESTS.filter((it) => isPresent(member(node, it)));
  if (name === undefined || others.length > 0) throw bad(node, `exactly one of ${TESTS.join(", ")} is needed`);
  return { at: pointerIn(member(node, "at")), test: testIn(node, name) };
};

/** The depth of `some` is limited by that of the JSON text. */
const conditionsIn = (node: Node): readonly Condition[] => listOf(node, CONDITIONS_MAX).map(conditionIn);

const namesIn = (node: Node): ReadonlySet<string> | null =>
  isPresent(node) ? new Set(listOf(node, VALUES_MAX).map((it) => textOf(it, NAME_MAX))) : null;

const filterIn = (node: Node, time: Filter["time"]): Filter => {
  objectOf(node, ["type", "category", "actor", "where", "time"]);
  const at = (name: string): Node => member(node, name);
  if (isPresent(at("actor"))) for (const it of listOf(at("actor"), ACTORS.length)) oneOf(it, ACTORS);
  return {
    types: namesIn(at("type")),
    categories: namesIn(at("category")),
    actors: namesIn(at("actor")),
    where: isPresent(at("where")) ? conditionsIn(at("where")) : [],
    time: isPresent(at("time")) ? oneOf(at("time"), ["period", "any"]) : time,
  };
};

const referenceIn = (node: Node, names: readonly string[]): Reference => {
  objectOf(node, ["of", "at"]);
  return { of: oneOf(member(node, "of"), names), at: pointerIn(member(node, "at")) };
};

const comparisonIn = (node: Node, names: readonly string[]): Comparison => {
  objectOf(node, ["at", "equals", "not_in", "only_if"]);
  const [equals, notIn, onlyIf] = [member(node, "equals"), member(node, "not_in"), member(node, "only_if")];
  if (isPresent(equals) === isPresent(notIn)) throw bad(node, "exactly one of equals, not_in is needed");
  const to = referenceIn(isPresent(equals) ? equals : notIn, names);
  const at = pointerIn(member(node, "at"));
  const test = isPresent(equals) ? "equals" : "not-in";
  if (!isPresent(onlyIf)) return { at, test, to, onlyIf: null };
  objectOf(onlyIf, ["of", "at", "is"]);
  const of = { of: oneOf(member(onlyIf, "of"), names), at: pointerIn(member(onlyIf, "at")) };
  return { at, test, to, onlyIf: { of, is: scalarIn(member(onlyIf, "is")) } };
};

const thresholdIn = (node: Node, names: readonly string[]): number | Reference =>
  isObject(node.value) ? referenceIn(node, names) : countOf(node, VOTES_MAX);

const NEED_MEMBERS = ["name", "of", "when", "key", "match", "compare", "must_be", "or_none", "distinct", "at_least"];

/** `earlier`: the names that it may refer to. */
const needIn = (node: Node, earlier: readonly string[]): Need => {
  objectOf(node, NEED_MEMBERS);
  const at = (name: string): Node => member(node, name);
  const when = oneOf(at("when"), ["before", "after", "latest"]);
  const key = pointerIn(at("key"));
  const match = isPresent(at("match")) ? referenceIn(at("match"), earlier) : { of: SUBJECT, at: key };
  const isCounted = isPresent(at("distinct")) || isPresent(at("at_least"));
  if (isPresent(at("must_be")) !== (when === "latest"))
    throw bad(node, "must_be belongs to latest, and latest needs it");
  if (when === "after" && (isCounted || match.of !== SUBJECT)) {
    throw bad(node, "a need after the subject is matched with the subject, and counts nothing");
  }
  const compare = isPresent(at("compare"))
    ? listOf(at("compare"), CONDITIONS_MAX).map((it) => comparisonIn(it, when === "after" ? [SUBJECT] : earlier))
    : [];
  return {
    name: textOf(at("name"), NAME_MAX),
    of: filterIn(at("of"), "any"),
    when,
    key,
    match,
    compare,
    mustBe: when === "latest" ? filterIn(at("must_be"), "any") : null,
    orNone: isPresent(at("or_none")) && booleanOf(at("or_none")),
    count: isCounted ? { distinct: pointerIn(at("distinct")), atLeast: thresholdIn(at("at_least"), earlier) } : null,
  };
};

const needsIn = (node: Node): readonly Need[] => {
  const needs: Need[] = [];
  for (const it of listOf(node, NEEDS_MAX)) {
    // A counted need finds several records and one after the subject none yet, so nothing can refer to them.
    const bound = needs.filter(({ count, when }) => count === null && when !== "after").map(({ name }) => name);
    const need = needIn(it, [SUBJECT, ...bound]);
    if (need.name === SUBJECT || needs.some(({ name }) => name === need.name))
      throw bad(it, `the name "${need.name}" is taken`);
    needs.push(need);
  }
  if (needs.filter(({ when }) => when === "after").length > 1)
    throw bad(node, "at most one need can be after the subject");
  return needs;
};

const everyIn = (node: Node): Query => {
  objectOf(node, ["ask", "of", "has", "any_of"]);
  const [has, anyOf] = [member(node, "has"), member(node, "any_of")];
  if (isPresent(has) === isPresent(anyOf)) throw bad(node, "exactly one of has, any_of is needed");
  const alternatives = isPresent(has) ? [has] : listOf(anyOf, ALTERNATIVES_MAX);
  return { ask: "every", of: filterIn(member(node, "of"), "period"), anyOf: alternatives.map(needsIn) };
};

export const queryIn = (node: Node): Query => {
  const ask = oneOf(member(node, "ask"), ["count", "distinct", "list", "every", "budgets"]);
  const of = (): Filter => filterIn(member(node, "of"), "period");
  switch (ask) {
    case "count":
      objectOf(node, ["ask", "of"]);
      return { ask, of: of() };
    case "distinct":
      objectOf(node, ["ask", "of", "at"]);
      return { ask, of: of(), at: pointerIn(member(node, "at")) };
    case "list": {
      objectOf(node, ["ask", "of", "show", "first"]);
      const show = listOf(member(node, "show"), SHOWN_MAX).map((it) => {
        objectOf(it, ["label", "at"]);
        return { label: textOf(member(it, "label"), NAME_MAX), at: pointerIn(member(it, "at")) };
      });
      const first = member(node, "first");
      return { ask, of: of(), show, first: isPresent(first) ? countOf(first, ROWS_MAX) : ROWS_DEFAULT };
    }
    case "every":
      return everyIn(node);
    case "budgets":
      objectOf(node, ["ask"]);
      return { ask };
  }
};
