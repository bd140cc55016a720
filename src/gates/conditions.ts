import { type CelInput, isCelError, plan } from "@bufbuild/cel";
import { defined } from "../../domain/defined.ts";
import { conditionEnv } from "./condition-functions.ts";
import { checkExpression, UnknownName } from "./condition-syntax.ts";
import type { Variable } from "./condition-types.ts";
import { jsonValues } from "./json-values.ts";
import { type Meter, TooCostly } from "./meter.ts";
import { compilePattern, type Pattern } from "./patterns.ts";
import type { DefinitionError } from "./policy-input.ts";

export type ConditionInput = {
  readonly payload: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Empty names if no source sent the request: a rule about sources is then false, and not an error. */
  readonly source: Readonly<Record<"id" | "name" | "type", string>>;
  readonly agent: Readonly<Record<"id" | "name", string>>;
  readonly action: string;
  /** Euros; null if the cost cannot be determined, and `costMissing` says why. */
  readonly cost_eur: number | null;
  readonly costMissing?: string;
};

export type Evaluated =
  | { readonly outcome: "true" | "false" }
  | { readonly outcome: "error"; readonly code: "evaluation-error" | "too-costly"; readonly detail: string };

export type Condition = {
  readonly reads: ReadonlySet<Variable>;
  evaluate(seen: ConditionInput): Evaluated;
};

export type CompiledCondition =
  | { readonly ok: true; readonly condition: Condition }
  | ({ readonly ok: false } & Omit<DefinitionError, "path">);

const failed = (detail: string): Evaluated => ({ outcome: "error", code: "evaluation-error", detail });

const COMPARES_NULL = /^found no matching overload for .*\bnull_type\b/s;

const costUnknown = ({ costMissing }: ConditionInput): string =>
  costMissing === undefined ? "the cost is not known" : `the cost is not known: ${costMissing}`;

/** The library's messages can quote the payload, so only types and names that the author wrote are repeated. */
const explain = (message: string, fields: ReadonlySet<string>): string => {
  const missing = /^field not found: (.*)$/s.exec(message)?.[1];
  if (missing !== undefined) {
    return fields.has(missing) ? `there is no field "${missing}"` : "a field that it reads is missing";
  }
  const types = /^found no matching overload for '([^']*)' applied to '([^']*)'$/.exec(message);
  if (types !== null) return `${types[1]} is not defined for ${types[2]}`;
  if (/^(?:unresolved attribute|index )/.test(message)) return "a field that it reads is missing";
  return "it could not be evaluated";
};

/** An error takes eight times as long with its stack trace, and a rule over 100,000 elements can raise one for each. */
const withoutStackTraces = <T>(run: () => T): T => {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return run();
  } finally {
    Error.stackTraceLimit = before;
  }
};

/** A condition that fails, because of a missing field, types or too much work, is an error and never simply false. */
export const conditionCompiler = (meter: Meter): ((source: string) => CompiledCondition) => {
  const values = jsonValues(meter);
  const patterns = new Map<string, Pattern>();
  const env = conditionEnv(values, meter, patterns);

  const bindings = (seen: ConditionInput, readsPayload: boolean): Record<string, CelInput> =>
    // The object has no prototype: the library's plain property access would find inherited names.
    Object.assign(Object.create(null), {
      payload: readsPayload ? values.toCel(seen.payload) : null,
      headers: values.toCel(seen.headers),
      source: values.toCel(seen.source),
      agent: values.toCel(seen.agent),
      action: seen.action,
      cost_eur: seen.cost_eur,
    });

  return (source) => {
    try {
      const { expr, reads, fields, patterns: literals } = checkExpression(source, env);
      for (const literal of literals) patterns.set(literal, compilePattern(literal, meter));
      const run = plan(env, expr);
      const readsPayload = reads.has("payload");
      const ran = (seen: ConditionInput): ReturnType<typeof run> | null => {
        try {
          return withoutStackTraces(() => run(bindings(seen, readsPayload)));
        } catch (error) {
          if (error instanceof TooCostly) return null;
          throw error;
        }
      };
      const evaluate = (seen: ConditionInput): Evaluated => {
        const result = ran(seen);
        // `||` and `&&` can swallow the meter's error; with more work the result might have been another.
        if (meter.exceeded) {
          return { outcome: "error", code: "too-costly", detail: "its evaluation takes too much work on this event" };
        }
        if (isCelError(result)) {
          const isCostMissed = seen.cost_eur === null && reads.has("cost_eur") && COMPARES_NULL.test(result.message);
          return failed(isCostMissed ? costUnknown(seen) : explain(result.message, fields));
        }
        if (typeof result !== "boolean") return failed("it is not true or false");
        return { outcome: result ? "true" : "false" };
      };
      return { ok: true, condition: { reads, evaluate } };
    } catch (error) {
      if (error instanceof UnknownName) {
        const { message, written, meant } = error;
        return { ok: false, message, ...defined({ name: written, proposal: meant ?? undefined }) };
      }
      if (error instanceof SyntaxError) return { ok: false, message: error.message };
      throw error;
    }
  };
};
