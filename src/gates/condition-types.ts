import type { CelEnv, parse } from "@bufbuild/cel";

export type Expr = ReturnType<typeof parse>["expr"];

export const VARIABLES = {
  payload: null,
  headers: "map",
  source: "map",
  agent: "map",
  action: "string",
  cost_eur: "double",
} as const;
export type Variable = keyof typeof VARIABLES;

export const isVariable = (name: string): name is Variable => Object.hasOwn(VARIABLES, name);

const CONSTANT_TYPES: Readonly<Record<string, string>> = {
  boolValue: "bool",
  bytesValue: "bytes",
  doubleValue: "double",
  int64Value: "int",
  uint64Value: "uint",
  stringValue: "string",
  nullValue: "null",
};

/** The CEL type of the expression; null if it depends on the event. */
export const typeOf = (expr: Expr | undefined, env: CelEnv): string | null => {
  const kind = expr?.exprKind;
  switch (kind?.case) {
    case "constExpr":
      return CONSTANT_TYPES[kind.value.constantKind.case ?? ""] ?? null;
    case "identExpr":
      return isVariable(kind.value.name) ? VARIABLES[kind.value.name] : null;
    case "selectExpr":
      return kind.value.testOnly ? "bool" : null;
    case "listExpr":
      return "list";
    case "structExpr":
      return "map";
    case "comprehensionExpr":
      return kind.value.result?.exprKind.case === "identExpr"
        ? typeOf(kind.value.accuInit, env)
        : typeOf(kind.value.result, env);
    case "callExpr": {
      const { function: name, args } = kind.value;
      if (name === "_&&_" || name === "_||_") return "bool";
      const types = name === "_?_:_" ? args.slice(1).map((branch) => typeOf(branch, env)) : resultTypes(name, env);
      const known = types.every((type) => type !== null && type !== "dyn" && type !== "bool");
      if (known && types.length > 0) return [...new Set(types)].join(" or ");
      return types.length > 0 && types.every((type) => type === "bool") ? "bool" : null;
    }
    default:
      return null;
  }
};

const resultTypes = (name: string, env: CelEnv): string[] =>
  [...(env.funcs.find(name) ?? [])].map(({ result }) => result.name);
