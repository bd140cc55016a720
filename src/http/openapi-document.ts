import type { Json } from "../../domain/json.ts";
import { PROBLEM_CODES, PROBLEMS, type ProblemCode, problemBody } from "../streams/problems.ts";
import { named, referring } from "./named-schemas.ts";
import type { JsonSchema } from "./route.ts";

/** The member of a route's schema with the codes of its problems; the published description has answers in its place. */
export const PROBLEMS_LISTED = "x-problems";

/** The member of a route's schema that says that the body may be left out. */
export const BODY_OPTIONAL = "x-body-optional";

const PROBLEM_TYPE = "application/problem+json";

const PROBLEM: JsonSchema = named("Problem", {
  type: "object",
  description: "A problem (RFC 9457). Some codes have more members, such as `event_id` and `verdict`.",
  required: ["type", "title", "status", "detail", "code", "retryable", "trace_id"],
  properties: {
    type: { type: "string", description: "/problems/<code>" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string" },
    retryable: { type: "boolean", description: "The same request may succeed later." },
    trace_id: { type: "string", pattern: "^[0-9a-f]{32}$" },
    errors: {
      type: "array",
      items: named("ProblemPlace", {
        type: "object",
        required: ["path", "message"],
        properties: {
          path: { type: "string", description: "A JSON Pointer" },
          message: { type: "string" },
          name: { type: "string", description: "An unknown name, as it was written" },
          proposal: { type: "string", description: "The known name that was most likely meant instead" },
        },
      }),
    },
  },
});

type Answer = {
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: unknown }>>;
};
type Operation = {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, Answer>>;
  readonly requestBody?: { readonly content: Answer["content"] };
  readonly parameters?: readonly { readonly schema?: unknown }[];
  readonly [PROBLEMS_LISTED]?: readonly ProblemCode[];
  readonly [BODY_OPTIONAL]?: true;
};

const isOperation = (it: unknown): it is Operation =>
  typeof it === "object" && it !== null && "responses" in it && "operationId" in it;

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const problemName = (code: ProblemCode): string => `${code.split("-").map(capitalized).join("")}Problem`;

const TRACE_OF_EXAMPLES = "4bf92f3577b34da6a3ce929d0e0e4736";

/** Each code has a schema of its own, so that a client can tell the problems of an answer apart by their type. */
const problemSchema = (code: ProblemCode): JsonSchema => {
  const { title, status } = PROBLEMS[code];
  return named(problemName(code), {
    description: title,
    allOf: [
      PROBLEM,
      { type: "object", properties: { code: { type: "string", enum: [code] }, status: { enum: [status] } } },
    ],
    examples: [problemBody({ problem: code, detail: `${title}.` }, TRACE_OF_EXAMPLES)],
  });
};

const problemAnswer = (codes: readonly ProblemCode[]) => {
  const [first, ...others] = codes.map(problemSchema);
  return {
    description: codes.map((code) => `${code}: ${PROBLEMS[code].title}`).join("; "),
    content: { [PROBLEM_TYPE]: { schema: others.length === 0 ? first : { oneOf: [first, ...others] } } },
  };
};

const problemAnswers = (
  listed: readonly ProblemCode[],
  answers: Operation["responses"],
): Readonly<Record<string, Answer>> => {
  const statuses = new Set(listed.map((code) => PROBLEMS[code].status));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const problems = problemAnswer(listed.filter((code) => PROBLEMS[code].status === status));
      const { [status]: answer } = answers;
      if (answer === undefined) return [status, problems];
      return [status, { ...answer, content: { ...answer.content, ...problems.content } }];
    }),
  );
};

/** The name of a body or an answer that has no name itself; undefined for schemas that need none. */
const withName = (schema: unknown, name: string): unknown =>
  typeof schema === "object" && schema !== null && "properties" in schema && !("title" in schema)
    ? named(name, { ...schema })
    : schema;

/** Examples of successes, for the published description alone. */
export type AnswerExamples = {
  /** By the name of the schema that the answer has. A list's is made of its item's. */
  readonly bodies: Readonly<Record<string, Json>>;
  /** By the operation's id, for answers that are text and have no name. */
  readonly texts: Readonly<Record<string, string>>;
};

const LIST = /^(.+)List$/;

const exampleOf = (name: string, { bodies }: AnswerExamples): Json | undefined => {
  if (Object.hasOwn(bodies, name)) return bodies[name];
  const item = LIST.exec(name)?.[1];
  if (item === undefined || !Object.hasOwn(bodies, item)) return undefined;
  return { data: [bodies[item] ?? null], next_cursor: null };
};

const withExample = (name: string, schema: JsonSchema, examples: AnswerExamples): JsonSchema => {
  const example = "examples" in schema ? undefined : exampleOf(name, examples);
  return example === undefined ? schema : { ...schema, examples: [example] };
};

type Found = Map<string, JsonSchema>;

/** What the operations are described with: the schemas found so far, and the examples. */
type Describing = { readonly found: Found; readonly examples: AnswerExamples };

const referringContent = (content: Answer["content"], name: string, found: Found): Answer["content"] =>
  content === undefined
    ? undefined
    : Object.fromEntries(
        Object.entries(content).map(([type, { schema, ...rest }]) => [
          type,
          { ...rest, ...(schema === undefined ? {} : { schema: referring(withName(schema, name), found) }) },
        ]),
      );

/** Of all media types that the answer may have. */
const withText = (content: Answer["content"], example: string | undefined): Answer["content"] =>
  content === undefined || example === undefined
    ? content
    : Object.fromEntries(
        Object.entries(content).map(([type, media]) => [type, type === PROBLEM_TYPE ? media : { ...media, example }]),
      );

const isSuccess = (status: string): boolean => status.startsWith("2");

const describedOperation = (operation: Operation, { found, examples }: Describing): object => {
  const {
    [PROBLEMS_LISTED]: listed = [],
    [BODY_OPTIONAL]: bodyOptional = false,
    responses,
    requestBody,
    parameters,
    ...rest
  } = operation;
  const name = capitalized(operation.operationId);
  const answers = Object.entries({ ...responses, ...problemAnswers(listed, responses) }).map(([status, answer]) => {
    const { content, ...others } = answer;
    const text = isSuccess(status) ? examples.texts[operation.operationId] : undefined;
    const referred = withText(referringContent(content, `${name}Answer${status}`, found), text);
    return [status, referred === undefined ? others : { ...others, content: referred }] as const;
  });
  return {
    ...rest,
    ...(parameters === undefined
      ? {}
      : { parameters: parameters.map((it) => ({ ...it, schema: referring(it.schema, found) })) }),
    ...(requestBody === undefined
      ? {}
      : {
          requestBody: {
            ...requestBody,
            required: !bodyOptional,
            content: referringContent(requestBody.content, `${name}Body`, found),
          },
        }),
    responses: { ...Object.fromEntries(answers), default: { $ref: "#/components/responses/Problem" } },
  };
};

/** The document with all problems of each operation, and with each named schema once, in `components/schemas`. */
export const documentWithNames = (
  document: { paths?: object; components?: object },
  examples: AnswerExamples,
): object => {
  const found: Found = new Map();
  const paths = Object.entries(document.paths ?? {}).map(([path, item]) => {
    const operations = Object.entries(item ?? {}).map(([method, it]) => [
      method,
      isOperation(it) ? describedOperation(it, { found, examples }) : it,
    ]);
    return [path, Object.fromEntries(operations)] as const;
  });
  // Some problems belong to no operation: a method that its address does not have, for one.
  for (const code of PROBLEM_CODES) referring(problemSchema(code), found);
  const content = { [PROBLEM_TYPE]: { schema: referring(PROBLEM, found) } };
  const byName = [...found]
    .map(([name, schema]) => [name, withExample(name, schema, examples)] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    ...document,
    paths: Object.fromEntries(paths),
    components: {
      ...document.components,
      schemas: Object.fromEntries(byName),
      responses: { Problem: { description: "A problem (RFC 9457)", content } },
    },
  };
};
