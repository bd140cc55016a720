import type { PartKind } from "../change-control/configuration.ts";
import type { Json } from "../json.ts";

/** `before` is null if the change creates the target, `after` is null if the change deletes it. */
export type ShownChange = {
  readonly target: { readonly kind: PartKind; readonly id: string };
  readonly before: Json;
  readonly after: Json;
};
