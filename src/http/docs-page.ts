import { docsIntroduction } from "./docs-introduction.ts";
import { escapeHtml } from "./html.ts";
import { htmlPage } from "./page-style.ts";
import type { JsonSchema } from "./route.ts";

type Media = { readonly schema?: JsonSchema; readonly example?: unknown };
type Answer = {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, Media>>;
};
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: JsonSchema;
  readonly description?: string;
};
type Operation = {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>>; readonly required?: boolean };
  readonly responses?: Readonly<Record<string, Answer>>;
};
/** The part of the description that the page shows. */
export type Description = {
  readonly info: { readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
};

const PROBLEM_TYPE = "application/problem+json";

const listOf = (value: unknown): readonly JsonSchema[] => (Array.isArray(value) ? value : []);
const schemaAt = (value: unknown): JsonSchema => (typeof value === "object" && value !== null ? { ...value } : {});

const arrayText = (items: unknown): string => `array of ${typeText(schemaAt(items))}`;

/** HTML that says which values the schema allows. */
const typeText = (schema: JsonSchema): string => {
  const { $ref, type, items, properties } = schema;
  if (typeof $ref === "string") {
    const name = escapeHtml($ref.split("/").at(-1) ?? "");
    return `<a href="#${name}">${name}</a>`;
  }
  const either = [...listOf(schema.anyOf), ...listOf(schema.oneOf)];
  if (either.length > 0) return either.map(typeText).join(" or ");
  if (Array.isArray(schema.enum))
    return schema.enum.map((it) => `<code>${escapeHtml(JSON.stringify(it))}</code>`).join(" or ");
  if (type === "array") return arrayText(items);
  const names = Object.keys(schemaAt(properties));
  const members =
    names.length === 0 ? "" : ` with ${names.map((name) => `<code>${escapeHtml(name)}</code>`).join(", ")}`;
  const types = Array.isArray(type) ? type.join(" or ") : (type ?? "any JSON");
  return `${escapeHtml(String(types))}${members}`;
};

const row = (name: string, note: string, schema: JsonSchema, description: unknown): string =>
  `<tr><td><code>${escapeHtml(name)}</code>${note}</td><td>${typeText(schema)}</td><td>${escapeHtml(String(description ?? ""))}</td></tr>`;

const parameterRow = ({ name, in: place, required, schema = {}, description }: Parameter): string =>
  row(name, ` ${escapeHtml(place)}${required === true ? ", required" : ""}`, schema, description ?? schema.description);

const problemLinks = (description: string): string =>
  description
    .split("; ")
    .map((it) => it.split(":")[0] ?? "")
    .map((code) => `<a href="/problems/${escapeHtml(code)}">${escapeHtml(code)}</a>`)
    .join(", ");

const answerRow = ([status, { description = "", content = {} }]: readonly [string, Answer]): string => {
  const types = Object.entries(content);
  const isProblem = types.length > 0 && types.every(([type]) => type === PROBLEM_TYPE);
  const made = types
    .filter(([type]) => type !== PROBLEM_TYPE)
    .map(([type, { schema = {} }]) => `${escapeHtml(type)}: ${typeText(schema)}`);
  const what = isProblem ? problemLinks(description) : [escapeHtml(description), ...made].join("<br>");
  return `<tr><td>${escapeHtml(status)}</td><td>${what}</td></tr>`;
};

const CREDENTIALS: Readonly<Record<string, string>> = {
  session: "a session",
  apiKey: "an API key",
  agentKey: "an agent's key",
  metricsToken: "the operator's token",
};

const credentialsText = (security: Operation["security"] = []): string => {
  const names = security.flatMap((it) => Object.keys(it)).map((name) => CREDENTIALS[name] ?? name);
  return names.length === 0 ? "No credential." : `With ${names.join(", or ")}.`;
};

type Schemas = Description["components"]["schemas"];

/** The example of a body, or the first one of its schema; empty if there is none. */
const exampleHtml = ({ schema = {}, example: own }: Media, schemas: Schemas): string => {
  const { $ref } = schema;
  const { examples } = typeof $ref === "string" ? schemaAt(schemas[$ref.split("/").at(-1) ?? ""]) : schema;
  const [example = own] = listOf(examples);
  return example === undefined ? "" : preHtml(example);
};

/** JSON, or text as it is. */
const preHtml = (example: unknown): string => {
  const text = typeof example === "string" ? example : JSON.stringify(example, null, 2);
  return `<pre><code>${escapeHtml(text)}</code></pre>`;
};

/** The example of an answer that is text. The examples of other answers are shown with their schemas. */
const textHtml = (answers: readonly (readonly [string, Answer])[]): string => {
  const media = answers.flatMap(([, { content = {} }]) => Object.values(content));
  const example = media.find((it) => it.example !== undefined)?.example;
  return example === undefined ? "" : preHtml(example);
};

const operationHtml = (call: string, it: Operation, schemas: Schemas): string => {
  const parameters = (it.parameters ?? []).map(parameterRow).join("");
  const bodies = Object.entries(it.requestBody?.content ?? {}).map(
    ([type, media]) =>
      `<p>Body, ${escapeHtml(type)}${it.requestBody?.required === false ? ", may be left out" : ""}: ${typeText(media.schema ?? {})}</p>${exampleHtml(media, schemas)}`,
  );
  const answers = Object.entries(it.responses ?? {}).filter(([status]) => status !== "default");
  return [
    `<details id="${escapeHtml(it.operationId ?? call)}"><summary><code>${escapeHtml(call)}</code> ${escapeHtml(it.summary ?? "")}</summary>`,
    `<p>${escapeHtml([it.description, credentialsText(it.security)].filter(Boolean).join(" "))}</p>`,
    parameters === "" ? "" : `<table>${parameters}</table>`,
    ...bodies,
    `<table>${answers.map(answerRow).join("")}</table>${textHtml(answers)}</details>`,
  ].join("\n");
};

const schemaHtml = ([name, schema]: readonly [string, JsonSchema]): string => {
  const required = new Set(listOf(schema.required).map(String));
  const rows = Object.entries(schemaAt(schema.properties)).map(([member, it]) => {
    const value = schemaAt(it);
    return row(member, required.has(member) ? "" : " optional", value, value.description);
  });
  const text = typeof schema.description === "string" ? `<p>${escapeHtml(schema.description)}</p>` : "";
  const [example] = listOf(schema.examples);
  const shown = example === undefined ? "" : preHtml(example);
  return `<details id="${escapeHtml(name)}"><summary>${escapeHtml(name)}</summary>${text}<table>${rows.join("")}</table>${shown}</details>`;
};

const isOfProblem = (name: string): boolean => name !== "Problem" && name.endsWith("Problem");

/** The API for people, complete in itself: it loads nothing and needs no script. */
export const docsPage = ({ info, servers, tags: described, paths, components }: Description): string => {
  const byTag = new Map<string, string[]>(described.map(({ name }) => [name, []]));
  const textOf = new Map(described.map(({ name, description }) => [name, description]));
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, it] of Object.entries(item)) {
      const tag = it.tags?.[0] ?? "other";
      byTag.set(tag, [
        ...(byTag.get(tag) ?? []),
        operationHtml(`${method.toUpperCase()} ${path}`, it, components.schemas),
      ]);
    }
  }
  const tags = [...byTag].filter(([, operations]) => operations.length > 0);
  const schemas = Object.entries(components.schemas).filter(([name]) => !isOfProblem(name));
  const links = ["introduction", ...tags.map(([tag]) => tag), "schemas"].map(
    (tag) => `<a href="#${escapeHtml(tag)}">${escapeHtml(tag)}</a>`,
  );
  return htmlPage(
    "Countersign: the API",
    [
      "<h1>The API of Countersign</h1>",
      `<p>Version ${escapeHtml(info.version)}. The same for programs: <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1). The <a href="/">console</a>.</p>`,
      `<nav>${links.join(" ")}</nav>`,
      docsIntroduction(servers[0]?.url ?? ""),
      ...tags.map(
        ([tag, operations]) =>
          `<h2 id="${escapeHtml(tag)}">${escapeHtml(tag)}</h2>\n<p>${escapeHtml(textOf.get(tag) ?? "")}</p>\n${operations.join("\n")}`,
      ),
      `<h2 id="schemas">Schemas</h2>\n${schemas.map(schemaHtml).join("\n")}`,
    ].join("\n"),
  );
};
