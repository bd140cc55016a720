import { type FieldPath, isPresent } from "./field-path.ts";
import { allowed, denied, type GateResult } from "./verdict.ts";

export type RequiredField = { readonly name: string; readonly path: FieldPath };

const NAMED_MAX = 5;

/** A field whose value is null counts as missing. */
export const requireFields = (fields: readonly RequiredField[], payload: unknown): GateResult => {
  let missing: string[] | null = null;
  for (const field of fields) {
    if (isPresent(payload, field.path)) continue;
    missing ??= [];
    missing.push(field.name);
  }
  if (missing === null) return allowed("require_fields", `${fields.length} present`);
  const named = missing.slice(0, NAMED_MAX).join(", ");
  const rest = missing.length > NAMED_MAX ? ` and ${missing.length - NAMED_MAX} more` : "";
  return denied("require_fields", "missing-fields", `missing: ${named}${rest}`);
};
