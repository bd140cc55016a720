import type { Json } from "../json.ts";
import { textOf, utf8 } from "./bytes.ts";
import { canonicalJson } from "./canonical-json.ts";

/** The first leaf of the instance tree of each generation, and of each rotation. */
export type SigningKeyLeaf = {
  readonly v: 1;
  readonly type: "SigningKey";
  /** The key that signs from this leaf on, as signed-note has it. */
  readonly vkey: string;
  /** The text of the last checkpoint before a new generation; null in the first generation and for a rotation. */
  readonly previous: string | null;
  /** Why an operator began a generation or replaced the key; null for the first key. */
  readonly reason: string | null;
};

export const signingKeyLeaf = (key: Omit<SigningKeyLeaf, "v" | "type">): Uint8Array =>
  utf8(canonicalJson({ v: 1, type: "SigningKey", ...key }));

const isTextOrNull = (value: Json | undefined): value is string | null => value === null || typeof value === "string";

/** Null if the bytes are not what `signingKeyLeaf` writes. */
export const parseSigningKeyLeaf = (bytes: Uint8Array): SigningKeyLeaf | null => {
  let value: Json;
  try {
    value = JSON.parse(textOf(bytes) ?? "") as Json; // JSON.parse has no other results.
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || !("vkey" in value)) return null;
  const { v, type, vkey, previous, reason } = value;
  if (v !== 1 || type !== "SigningKey" || typeof vkey !== "string") return null;
  if (!isTextOrNull(previous) || !isTextOrNull(reason)) return null;
  const leaf = { v, type, vkey, previous, reason } as const;
  return canonicalJson(leaf) === textOf(bytes) ? leaf : null;
};
