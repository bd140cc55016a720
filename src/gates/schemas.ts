import { Ajv, type ErrorObject, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { FormatName } from "ajv-formats";
import { fastFormats, fullFormats } from "ajv-formats/dist/formats.js";
import type { Json, JsonObject } from "../../domain/json.ts";
import type { JsonValues } from "./json-values.ts";
import type { Meter } from "./meter.ts";
import { compilePattern } from "./patterns.ts";
import type { DefinitionError } from "./policy-input.ts";
import { measureSchema } from "./schema-limits.ts";

/** Neither `at` nor `message` has a value of the payload in it. */
export type Mismatch = { readonly at: string; readonly message: string };

export type PayloadSchema = {
  /** Null if the payload matches. Throws `TooCostly` if the check takes too much work. */
  mismatch(payload: unknown): Mismatch | null;
};

export type CompiledSchema =
  | { readonly ok: true; readonly schema: PayloadSchema }
  | { readonly ok: false; readonly errors: readonly DefinitionError[] };

/** A schema without `$schema` means 2020-12. */
const DIALECTS: Readonly<Record<string, "2020-12" | "draft-07">> = {
  "https://json-schema.org/draft/2020-12/schema": "2020-12",
  "http://json-schema.org/draft-07/schema": "draft-07",
  "https://json-schema.org/draft-07/schema": "draft-07",
};

/** The formats that are offered: the check of each takes linear time. */
const FORMATS = {
  date: fullFormats.date,
  time: fullFormats.time,
  "date-time": fullFormats["date-time"],
  duration: fullFormats.duration,
  email: fastFormats.email,
  hostname: fullFormats.hostname,
  ipv4: fullFormats.ipv4,
  ipv6: fullFormats.ipv6,
  uri: fastFormats.uri,
  "uri-reference": fastFormats["uri-reference"],
  uuid: fullFormats.uuid,
  "json-pointer": fullFormats["json-pointer"],
  int32: fullFormats.int32,
  int64: fullFormats.int64,
  float: fullFormats.float,
  double: fullFormats.double,
} satisfies Partial<Record<FormatName, unknown>>;

/** Units for a check: the schema's parts times the payload's weight (10 for a number), divided by this. */
const PARTS_PER_WORK = 4;
/** Decimals to which `multipleOf` is exact: with doubles alone, 19.99 would be no multiple of 0.01. */
const DECIMALS = 6;
const TEXT_MAX = 200;

const clip = (text: string): string => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text);

const namesIn = (schema: Json): readonly string[] => {
  if (typeof schema !== "object" || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap(namesIn);
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const isNamed = keyword === "properties" && typeof value === "object" && value !== null;
    return [...(isNamed ? Object.keys(value) : []), ...namesIn(value)];
  });
};

/** Index of a list in a pointer. A longer number is no such index, and may be a hidden value. */
const PLACE_IN_LIST = /^\d{1,6}$/;

/**
 * Names in a pointer that the schema does not have become an asterisk. They are data that may be hidden, such as an
 * e-mail address as a key, while a verdict is shown to everyone and never erased.
 */
const shownPointer = (pointer: string, names: ReadonlySet<string>): string =>
  pointer
    .split("/")
    .map((step) => {
      const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
      return step === "" || names.has(name) || PLACE_IN_LIST.test(name) ? step : "*";
    })
    .join("/");

const options = (meter: Meter): Options => ({
  // An unknown keyword is a typing error; what else ajv's strict mode refuses is a matter of taste.
  strictSchema: true,
  strictNumbers: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allErrors: false,
  ownProperties: true,
  validateSchema: false,
  meta: false,
  addUsedSchema: false,
  logger: false,
  multipleOfPrecision: DECIMALS,
  formats: FORMATS,
  // Ajv would write out a part at every $ref to it, and compiling could take seconds.
  inlineRefs: false,
  code: {
    // Optimizing the generated code takes twice as long as generating it.
    optimize: false,
    // Ajv tells patterns apart by `toString()`, and uses `code` only for generated source text.
    regExp: Object.assign(
      (source: string) => ({ ...compilePattern(source, meter), toString: () => JSON.stringify(source) }),
      { code: "compilePattern" },
    ),
  },
});

const asErrors = (errors: readonly ErrorObject[] | null | undefined): readonly DefinitionError[] => {
  const [first] = errors ?? [];
  return [{ path: first?.instancePath ?? "", message: first?.message ?? "is not a JSON Schema" }];
};

export const schemaCompiler = (
  values: JsonValues,
  meter: Meter,
): ((schema: JsonObject | boolean) => CompiledSchema) => {
  // A meta-schema takes long to compile, so each is compiled only once, when the first schema needs it.
  const dialects = new Map<string, Ajv>();
  const dialect = (name: "2020-12" | "draft-07"): Ajv => {
    const known = dialects.get(name);
    if (known !== undefined) return known;
    const made = name === "2020-12" ? new Ajv2020({ logger: false }) : new Ajv({ logger: false });
    dialects.set(name, made);
    return made;
  };

  return (schema) => {
    if (typeof schema === "boolean") {
      const mismatch = schema ? null : { at: "", message: "matches nothing: the schema is false" };
      return { ok: true, schema: { mismatch: () => mismatch } };
    }
    const { parts, errors } = measureSchema(schema);
    if (errors.length > 0) return { ok: false, errors };
    const named = schema.$schema ?? "https://json-schema.org/draft/2020-12/schema";
    const version = typeof named === "string" ? DIALECTS[named.replace(/#$/, "")] : undefined;
    if (version === undefined) {
      return { ok: false, errors: [{ path: "/$schema", message: "must be draft 2020-12 or draft-07" }] };
    }
    const meta = dialect(version);
    if (meta.validateSchema(schema) !== true) return { ok: false, errors: asErrors(meta.errors) };
    try {
      // Each schema gets a new instance, because an instance never drops what it has compiled.
      const validate = (version === "2020-12" ? new Ajv2020(options(meter)) : new Ajv(options(meter))).compile(schema);
      const names = new Set(namesIn(schema));
      const mismatch = (payload: unknown): Mismatch | null => {
        meter.spend((parts * values.weigh(payload)) / PARTS_PER_WORK);
        if (validate(payload)) return null;
        const [error] = validate.errors ?? [];
        const at = clip(shownPointer(error?.instancePath ?? "", names));
        return { at, message: clip(error?.message ?? "does not match") };
      };
      return { ok: true, schema: { mismatch } };
    } catch (error) {
      const message = error instanceof Error ? error.message : "is not valid";
      const [, format] = /^unknown format "(.*)" ignored/.exec(message) ?? [];
      const plain = format === undefined ? message : `unknown format "${format}": ${Object.keys(FORMATS).join(", ")}`;
      return { ok: false, errors: [{ path: "", message: clip(plain) }] };
    }
  };
};
