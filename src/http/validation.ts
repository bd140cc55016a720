import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { FastifySchemaCompiler, FastifySchemaValidationError, FastifyServerOptions } from "fastify";
import { problem } from "../problems.ts";
import { LISTED_ERRORS_MAX } from "./limits.ts";
import { Refused } from "./refused.ts";

/** OpenAPI 3.1 means JSON Schema 2020-12. Bodies are taken as they are; a query has only text, so numbers are read. */
export const validatorCompiler = (): FastifySchemaCompiler<Record<string, unknown>> => {
  const common = {
    allErrors: true,
    useDefaults: true,
    removeAdditional: false,
    strict: true,
    // `type` beside `anyOf`, and unions with "null", are how the routes say "or nothing".
    strictTypes: false,
    allowUnionTypes: true,
  } as const;
  const body = new Ajv2020({ ...common, coerceTypes: false });
  const text = new Ajv2020({ ...common, coerceTypes: true });
  addFormats.default(body);
  addFormats.default(text);
  return ({ schema, httpPart }) => (httpPart === "body" ? body : text).compile(schema);
};

const pointerPart = (name: string): string => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** The JSON Pointer of what is wrong: for a missing or an unknown member that of the member itself. */
const errorPath = ({ instancePath, params }: FastifySchemaValidationError): string => {
  const member = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  return typeof member === "string" ? instancePath + pointerPart(member) : instancePath;
};

const errorMessage = ({ keyword, message, params }: FastifySchemaValidationError): string => {
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
    default:
      return message ?? "is not valid";
  }
};

const PARTS = { body: "body", querystring: "query", params: "path", headers: "headers" } as const;

export const schemaErrorFormatter: NonNullable<FastifyServerOptions["schemaErrorFormatter"]> = (errors, part) => {
  const listed = errors
    .slice(0, LISTED_ERRORS_MAX)
    .map((error) => ({ path: errorPath(error), message: errorMessage(error) }));
  const [first = { path: "", message: "is not valid" }] = listed;
  const detail = `In the ${PARTS[part]}: ${first.path === "" ? "it" : first.path} ${first.message}.`;
  return new Refused(problem("invalid-request", detail, { errors: listed }));
};
