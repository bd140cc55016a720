import { schemaType } from "./schema-type.ts";
import { comment, quoted } from "./source-text.ts";
import { UNKNOWN } from "./type-text.ts";

/** An action as `GET /v1/actions` shows it. */
export type ShownAction = {
  readonly name: string;
  readonly schema?: unknown;
  readonly reversibility?: string;
  readonly compensation?: string;
};

const HEAD = [
  "/**",
  " * What the actions take, by their schemas. Written by `countersign sdk types`: what is changed here gets lost.",
  " */",
  "",
].join("\n");

const descriptionOf = (schema: unknown): string => {
  const description =
    typeof schema === "object" && schema !== null && "description" in schema ? schema.description : "";
  return typeof description === "string" ? description : "";
};

const actionText = ({ name, schema, reversibility = "", compensation }: ShownAction): string => {
  const undo = compensation === undefined ? reversibility : `${reversibility}, by ${compensation}`;
  const payload = schema === undefined ? UNKNOWN : schemaType(schema, "    ");
  return [
    comment(`${descriptionOf(schema)}\n${undo}`, "  "),
    `  readonly ${quoted(name)}: {\n`,
    `    readonly payload: ${payload.text};\n`,
    "  };\n",
  ].join("");
};

/** A module that exports the type `Actions`, for `new Countersign<Actions>(…)`. The same actions give the same text. */
export const actionsModule = (actions: readonly ShownAction[]): string => {
  const sorted = [...actions].sort((one, other) => (one.name < other.name ? -1 : 1));
  return `${HEAD}export type Actions = {\n${sorted.map(actionText).join("")}};\n`;
};
