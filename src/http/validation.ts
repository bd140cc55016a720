import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { FastifySchemaCompiler, FastifySchemaValidationError, FastifyServerOptions } from "fastify";
import { escapePointer } from "../../domain/gate/field-path.ts";
import { problem } from "../streams/problems.ts";
import { LISTED_ERRORS_MAX } from "./limits.ts";
import { ProblemError } from "./problem-error.ts";

const DIGITS = /^[0-9]+$/;

/** A query contains only text, so digits are turned into numbers where the schema wants an integer. */
const readIntegers = (schema: Record<string, unknown>, query: Record<string, unknown>): void => {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, { readonly type?: unknown }>> };
  for (const [name, { type }] of Object.entries(properties)) {
    const given = query[name];
    if (type === "integer" && typeof given === "string" && DIGITS.test(given)) query[name] = Number(given);
  }
};

export const validatorCompiler = (): FastifySchemaCompiler<Record<string, unknown>> => {
  const ajv = new Ajv2020({
    allErrors: true,
    useDefaults: true,
    removeAdditional: false,
    strict: true,
    // Ajv's strict mode would refuse these schemas, which combine `type` with `anyOf` and name several types.
    strictTypes: false,
    allowUnionTypes: true,
    coerceTypes: false,
  });
  addFormats.default(ajv);
  return ({ schema, httpPart }) => {
    // Each schema is compiled at its first use, because compiling all of them takes a fifth of the start.
    let compiled: ValidateFunction | null = null;
    return (value: Record<string, unknown>) => {
      compiled ??= ajv.compile(schema);
      if (httpPart === "querystring") readIntegers(schema, value);
      return compiled(value) ? { value } : { error: compiled.errors ?? [] };
    };
  };
};

/** The path of an error. If a member is missing or unknown, the path is the member's, not its parent's as Ajv says. */
const errorPath = ({ instancePath, params }: FastifySchemaValidationError): string => {
  const member = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  return typeof member === "string" ? `${instancePath}/${escapePointer(member)}` : instancePath;
};

const namedTypes = (type: unknown): string => [type].flat().join(" or ");

export const NOT_BLANK = "\\S";

/** Says what a value must be, because Ajv's own messages are clear only to a reader who sees the schema. */
const rule = ({ keyword, message, params }: FastifySchemaValidationError): string => {
  switch (keyword) {
    case "additionalProperties":
    case "unevaluatedProperties":
      return "is not a known field";
    case "required":
      return "is required";
    case "enum":
      return Array.isArray(params.allowedValues)
        ? `must be one of ${params.allowedValues.join(", ")}`
        : "is not allowed";
    case "type":
      return `must be of type ${namedTypes(params.type)}`;
    case "minLength":
      return params.limit === 1 ? "must not be empty" : `must have at least ${params.limit} characters`;
    case "maxLength":
      return `must have at most ${params.limit} characters`;
    case "minItems":
      return params.limit === 1 ? "must not be empty" : `must have at least ${params.limit} items`;
    case "maxItems":
      return `must have at most ${params.limit} items`;
    case "maxProperties":
      return `must have at most ${params.limit} members`;
    case "uniqueItems":
      return "must not have the same item twice";
    case "minimum":
      return `must be at least ${params.limit}`;
    case "maximum":
      return `must be at most ${params.limit}`;
    case "pattern":
      return params.pattern === NOT_BLANK ? "must not be blank" : `must match the pattern ${params.pattern}`;
    case "format":
      return params.format === "date-time"
        ? "must be a time with its zone, such as 2026-01-31T12:00:00Z"
        : `must have the format ${params.format}`;
    default:
      return message ?? "is not valid";
  }
};

/** If a member's name is wrong, Ajv's error has the path of the object, so the message says that a name is wrong. */
const errorMessage = (error: FastifySchemaValidationError): string =>
  "propertyName" in error ? `has a name that ${rule(error)}` : rule(error);

const PARTS = { body: "body", querystring: "query", params: "path", headers: "headers" } as const;

export const schemaErrorFormatter: NonNullable<FastifyServerOptions["schemaErrorFormatter"]> = (errors, part) => {
  const listed = errors
    .slice(0, LISTED_ERRORS_MAX)
    .map((error) => ({ path: errorPath(error), message: errorMessage(error) }));
  const [first = { path: "", message: "is not valid" }] = listed;
  const detail = `In the ${PARTS[part]}: ${first.path === "" ? "it" : first.path} ${first.message}.`;
  return new ProblemError(problem("invalid-request", detail, { errors: listed }));
};
