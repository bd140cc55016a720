import { type CelEnv, parse } from "@bufbuild/cel";
import { nearest } from "../../domain/did-you-mean.ts";
import { type Expr, isVariable, typeOf, VARIABLES, type Variable } from "./condition-types.ts";
import { EXPRESSION_BYTES_MAX } from "./policy-input.ts";

const TYPES: ReadonlySet<string> = new Set([
  "int",
  "uint",
  "double",
  "bool",
  "string",
  "bytes",
  "list",
  "map",
  "null_type",
  "type",
]);

const OPERATORS: ReadonlySet<string> = new Set(["_[_]", "_?_:_", "_&&_", "_||_", "@not_strictly_false"]);

/** Levels. The parser takes more than linear time on nested brackets: 0.4 s on 400 of them. */
const NESTING_MAX = 32;

/** Functions that are inserted into a parsed expression. CEL has no `@`, so no author can call them. */
export const RANGE = "@range";
export const APPEND = "@append";
export const WITHIN = "@within";

export type Checked = {
  readonly expr: Expr;
  readonly reads: ReadonlySet<Variable>;
  /** An error message may repeat these names of fields: the author wrote them, and not the sender. */
  readonly fields: ReadonlySet<string>;
  readonly patterns: ReadonlySet<string>;
};

type Scope = { readonly locals: ReadonlySet<string>; readonly inLoop: boolean };

/** `written` is no name that an expression sees; `meant` is the one that was most likely meant, or null. */
export class UnknownName extends SyntaxError {
  readonly written: string;
  readonly meant: string | null;

  constructor(written: string) {
    const known = Object.keys(VARIABLES);
    super(`unknown name "${written}": an expression sees ${known.join(", ")}`);
    this.written = written;
    this.meant = nearest(written, known);
  }
}

const checkNesting = (source: string): void => {
  let open = 0;
  for (const character of source) {
    if ("([{".includes(character)) open += 1;
    else if (")]}".includes(character)) open -= 1;
    if (open > NESTING_MAX) throw new SyntaxError(`brackets are nested more than ${NESTING_MAX} deep`);
  }
};

const call = (id: bigint, name: string, args: Expr[]): Expr => ({
  $typeName: "cel.expr.Expr",
  id,
  exprKind: { case: "callExpr", value: { $typeName: "cel.expr.Expr.Call", function: name, args } },
});

const integer = (id: bigint, value: number): Expr => ({
  $typeName: "cel.expr.Expr",
  id,
  exprKind: {
    case: "constExpr",
    value: { $typeName: "cel.expr.Constant", constantKind: { case: "int64Value", value: BigInt(value) } },
  },
});

const present = (expr: Expr | undefined): Expr => {
  if (expr === undefined) throw new SyntaxError("the expression is not complete");
  return expr;
};

/** Throws unless the pattern is a literal: a pattern from the payload would be a program that the sender chooses. */
const literalPattern = (pattern: Expr | undefined): string => {
  const constant = pattern?.exprKind.case === "constExpr" ? pattern.exprKind.value.constantKind : undefined;
  if (constant?.case !== "stringValue") throw new SyntaxError("matches() takes a literal regular expression");
  return constant.value;
};

type Call = Extract<Expr["exprKind"], { case: "callExpr" }>["value"];
type Comprehension = Extract<Expr["exprKind"], { case: "comprehensionExpr" }>["value"];

const walker = (env: CelEnv) => {
  const reads = new Set<Variable>();
  const fields = new Set<string>();
  const patterns = new Set<string>();

  const identifier = (name: string, { locals }: Scope): void => {
    if (locals.has(name) || TYPES.has(name)) return;
    if (!isVariable(name)) throw new UnknownName(name);
    reads.add(name);
  };

  const checkFunction = ({ function: name, target, args }: Call): void => {
    if (OPERATORS.has(name)) return;
    const overloads = [...(env.funcs.find(name) ?? [])];
    if (overloads.length === 0) throw new SyntaxError(`unknown function ${name}()`);
    const isMethod = target !== undefined;
    if (!overloads.some((it) => it.arguments.length === args.length && (it.target !== undefined) === isMethod))
      throw new SyntaxError(`${name}() is not called like this: other arguments are needed`);
    if (name === "matches") patterns.add(literalPattern(args[0]));
  };

  const comprehension = (id: bigint, loop: Comprehension, scope: Scope): number => {
    if (scope.inLoop) throw new SyntaxError("exists, all, map and the like cannot stand inside one another");
    const inner = { locals: new Set([...scope.locals, loop.iterVar, loop.accuVar]), inLoop: true };
    const range = present(loop.iterRange);
    const before = walk(range, scope) + walk(present(loop.accuInit), scope);
    const each = walk(present(loop.loopCondition), inner) + walk(present(loop.loopStep), inner);
    // The number of rounds is known only when the expression runs: `@range` then pays for all of them before the first.
    loop.iterRange = call(id, RANGE, [range, integer(id, each)]);
    // `exists` and `all` swallow an error in the body of a round, so `@within` throws in the loop's condition, where an
    // error ends the loop.
    loop.loopCondition = call(id, "_&&_", [call(id, WITHIN, []), present(loop.loopCondition)]);
    if (loop.accuInit?.exprKind.case === "listExpr") appendInPlace(present(loop.loopStep), loop.accuVar);
    return before + each + walk(present(loop.result), inner);
  };

  const walk = (expr: Expr, scope: Scope): number => {
    const all = (parts: readonly (Expr | undefined)[]): number =>
      parts.reduce((sum, part) => sum + walk(present(part), scope), 1);
    const { exprKind: kind } = expr;
    switch (kind.case) {
      case "constExpr":
        return 1;
      case "identExpr":
        identifier(kind.value.name, scope);
        return 1;
      case "selectExpr":
        fields.add(kind.value.field);
        return all([kind.value.operand]);
      case "callExpr":
        checkFunction(kind.value);
        return all(kind.value.target === undefined ? kind.value.args : [kind.value.target, ...kind.value.args]);
      case "listExpr":
        return all(kind.value.elements);
      case "structExpr":
        if (kind.value.messageName !== "") throw new SyntaxError(`unknown type "${kind.value.messageName}"`);
        return all(
          kind.value.entries.flatMap(({ keyKind, value }) => [
            keyKind.case === "mapKey" ? keyKind.value : undefined,
            value,
          ]),
        );
      case "comprehensionExpr":
        return comprehension(expr.id, kind.value, scope);
      default:
        throw new SyntaxError("the expression is not complete");
    }
  };

  return { walk, reads, fields, patterns };
};

/**
 * Makes `map` and `filter` append to one list. The library's `+` would nest a new list in each round, too deep to be
 * read after thousands of rounds.
 */
const appendInPlace = (step: Expr, accumulator: string): void => {
  if (step.exprKind.case !== "callExpr") return;
  const { value } = step.exprKind;
  const [first] = value.args;
  if (value.function === "_+_" && first?.exprKind.case === "identExpr" && first.exprKind.value.name === accumulator)
    value.function = APPEND;
  else if (value.function === "_?_:_") for (const branch of value.args.slice(1)) appendInPlace(branch, accumulator);
};

/** Throws a `SyntaxError` for the author. Comprehensions are rewritten so that the meter counts each round. */
export const checkExpression = (source: string, env: CelEnv): Checked => {
  if (Buffer.byteLength(source) > EXPRESSION_BYTES_MAX)
    throw new SyntaxError(`an expression has at most ${EXPRESSION_BYTES_MAX} bytes`);
  checkNesting(source);
  let expr: Expr;
  try {
    ({ expr } = parse(source));
  } catch (error) {
    throw new SyntaxError(`not a CEL expression: ${error instanceof Error ? error.message.slice(0, 200) : ""}`);
  }
  const type = typeOf(expr, env);
  if (type !== null && type !== "bool") throw new SyntaxError(`must be true or false, and is of type ${type}`);
  const { walk, reads, fields, patterns } = walker(env);
  walk(expr, { locals: new Set(), inLoop: false });
  return { expr, reads, fields, patterns };
};
