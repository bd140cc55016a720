import { euro } from "../../design/format.ts";
import type { Problem } from "../api/calls.ts";

type Cost = {
  readonly fixed_eur?: number | undefined;
  readonly pointer?: string | undefined;
  readonly scale?: number | undefined;
  readonly default_eur?: number | undefined;
  readonly numeric_text?: boolean | undefined;
};

/** What an action is, as the API takes and shows it. */
type Definition = {
  readonly endpoint_id: string;
  readonly reversibility: "reversible" | "compensable" | "irreversible";
  readonly schema?: boolean | { readonly [name: string]: unknown };
  readonly cost?: Cost;
  readonly compensation?: string;
  readonly policy_id?: string | null;
  readonly title?: string;
  readonly labels?: Readonly<Record<string, string>>;
};

type Fields = Readonly<Record<string, string>>;
export type CostKind = "none" | "fixed" | "field";

/** The definition, or what is written so that none can be made of it. */
export type Written =
  | { readonly ok: true; readonly body: Definition }
  | { readonly ok: false; readonly problem: Problem };

export const costKindOf = (cost: Cost | undefined): CostKind =>
  cost === undefined ? "none" : cost.fixed_eur === undefined ? "field" : "fixed";

/** One label a line: the pointer of the field, a colon, and what people call it. */
export const labelLines = (labels: Readonly<Record<string, unknown>> = {}): string =>
  Object.entries(labels)
    .map(([pointer, label]) => `${pointer}: ${label}`)
    .join("\n");

const refused = (path: string, message: string): Written => ({
  ok: false,
  problem: {
    ...{ status: 422, code: "invalid-action", title: "Not an action" },
    ...{ detail: "The action is not saved yet.", errors: [{ path, message }] },
  },
});

/** A pointer may have a colon itself, so the last one that a space follows parts it from the label. */
const labelOf = (line: string): readonly [string, string] | null => {
  const [, pointer, label] = /^(\/.*\S)\s*:\s+(.+)$/.exec(line) ?? [];
  return pointer === undefined || label === undefined ? null : [pointer, label.trim()];
};

const costOf = ({ cost, fixed_eur: fixed, pointer, scale, default_eur: missing, numeric_text: isText }: Fields) => {
  if (cost === "fixed") return { cost: { fixed_eur: Number(fixed) } satisfies Cost };
  if (cost !== "field") return {};
  return {
    cost: {
      pointer: pointer ?? "",
      ...(scale === undefined ? {} : { scale: Number(scale) }),
      ...(missing === undefined ? {} : { default_eur: Number(missing) }),
      ...(isText === undefined ? {} : { numeric_text: true }),
    } satisfies Cost,
  };
};

/** The definition that a form's fields make; the service checks it whole. */
export const definitionOf = (fields: Fields): Written => {
  const { endpoint_id = "", reversibility, compensation, policy_id, title, labels, schema } = fields;
  const lines = (labels ?? "").split("\n").filter((line) => line.trim() !== "");
  const named = lines.map((line) => labelOf(line.trim()));
  const wrong = named.indexOf(null);
  if (wrong !== -1) return refused("/labels", `Line ${wrong + 1} is to read like "/customer/name: Customer".`);
  let parsed: Pick<Definition, "schema"> = {};
  try {
    if (schema !== undefined) parsed = { schema: JSON.parse(schema) };
  } catch (error) {
    return refused("/schema", `This is not JSON: ${error instanceof Error ? error.message : ""}`);
  }
  return {
    ok: true,
    body: {
      endpoint_id,
      // The form offers the three that the API knows.
      reversibility: reversibility as Definition["reversibility"],
      ...costOf(fields),
      ...parsed,
      ...(compensation === undefined ? {} : { compensation }),
      ...(policy_id === undefined ? {} : { policy_id }),
      ...(title === undefined ? {} : { title }),
      ...(lines.length === 0 ? {} : { labels: Object.fromEntries(named.filter((it) => it !== null)) }),
    },
  };
};

type UndoFacts = Pick<Definition, "reversibility"> & { readonly compensation?: string | undefined };

/** Whether and how what the action did can be undone, in words. */
export const undoText = ({ reversibility, compensation }: UndoFacts): string => {
  if (reversibility === "irreversible") return "It cannot be undone";
  if (compensation !== undefined) return `Undone by ${compensation}`;
  return "There is nothing to undo";
};

/** What a request costs, in words. */
export const costText = (cost: Cost | undefined): string => {
  if (cost === undefined) return "No cost";
  if (cost.fixed_eur !== undefined) return `${euro(cost.fixed_eur)} each`;
  const unit = cost.scale === undefined || cost.scale === 1 ? "in euros" : `times ${euro(cost.scale)}`;
  const missing = cost.default_eur === undefined ? "" : `; ${euro(cost.default_eur)} without it`;
  return `${cost.pointer}, ${unit}${missing}`;
};
