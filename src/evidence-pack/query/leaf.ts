import type { Json, JsonObject } from "../../../domain/json.ts";

/** The members of a leaf that queries name themselves; pointers reach all others. */
export type Leaf = JsonObject & {
  readonly account: string;
  readonly index: number;
  readonly stream: string;
  readonly type: string;
  readonly recorded_at: string;
  readonly actor: JsonObject & { readonly kind: string; readonly id: string };
  readonly data: JsonObject;
};

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isLeaf = (value: Json): value is Leaf =>
  isObject(value) &&
  [value.account, value.stream, value.type, value.recorded_at].every((it) => typeof it === "string") &&
  Number.isSafeInteger(value.index) &&
  isObject(value.actor) &&
  typeof value.actor.kind === "string" &&
  isObject(value.data);

export const categoryOf = ({ stream }: Pick<Leaf, "stream">): string =>
  stream.slice(0, Math.max(0, stream.indexOf("-")));
