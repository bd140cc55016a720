import { escapePointer } from "../../domain/gate/field-path.ts";
import { REDACTED } from "../../domain/gate/redact.ts";
import type { Json } from "../../domain/json.ts";
import { type ContentOrder, contentOf } from "./approval-content.ts";
import type { Form } from "./approval-form.ts";

export type Labels = Readonly<Record<string, string>>;

/** `labels`: those of the action; for a bundle, those of each step's action. */
export type FieldsOrder = ContentOrder & { readonly labels: readonly Labels[] };

/** `value` is null if the field is hidden. `cut`: only the beginning of a long text is here. */
type Field = {
  readonly pointer: string;
  readonly label: string;
  readonly value: Json;
  readonly hidden: boolean;
  readonly cut?: true;
};

export type VisibleFields = {
  readonly title: string | null;
  readonly fields: readonly Field[];
  /** How many fields there are beyond `FIELDS_MAX`. */
  readonly left_out: number;
  /** The sentence of each step of a bundle; null for a step whose action has no template. */
  readonly titles: readonly (string | null)[];
  readonly form: Form;
};

export const FIELDS_MAX = 500;
/** Characters. A request with a longer text cannot be read to its end, so its readers should reject it. */
export const FIELD_LENGTH_MAX = 65_536;

type Found = { readonly path: readonly string[]; readonly value: Json };

/** All values that have no members, in the order of the payload. */
function* leaves(value: Json, path: readonly string[] = []): Generator<Found> {
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (members.length === 0) yield { path, value };
  for (const [name, member] of members) yield* leaves(member, [...path, name]);
}

const shownValue = (value: Json): Pick<Field, "value" | "cut"> =>
  typeof value === "string" && value.length > FIELD_LENGTH_MAX
    ? { value: value.slice(0, FIELD_LENGTH_MAX), cut: true }
    : { value };

const fieldsOf = (payload: Json, labels: Labels, isRedacted: boolean, prefix = ""): readonly Field[] =>
  Array.from(leaves(payload), ({ path, value }) => {
    const own = path.map((name) => `/${escapePointer(name)}`).join("");
    const hidden = isRedacted && value === REDACTED;
    const label = Object.hasOwn(labels, own) ? labels[own] : undefined;
    const shown = hidden ? { value: null } : shownValue(value);
    return { pointer: `${prefix}${own}`, label: label ?? path.join(" › "), ...shown, hidden };
  });

type StepContent = { readonly title: string | null; readonly payload: Json };

/** What is decided, field by field; an approval without a payload has no fields. */
export const visibleFields = (order: FieldsOrder): VisibleFields => {
  const { title, payload, payload_format, redacted, form } = contentOf(order);
  // The payload comes from `contentOf` in the same thread, where it is not packed, and a bundle's has these members.
  const content = payload as Json;
  const steps = order.steps === null ? [] : (content as unknown as readonly StepContent[]);
  const all =
    payload_format === null
      ? []
      : order.steps === null
        ? fieldsOf(content, order.labels[0] ?? {}, redacted)
        : steps.flatMap((step, index) => fieldsOf(step.payload, order.labels[index] ?? {}, redacted, `/${index}`));
  return {
    title,
    fields: all.slice(0, FIELDS_MAX),
    left_out: Math.max(0, all.length - FIELDS_MAX),
    titles: steps.map((step) => step.title),
    form,
  };
};
