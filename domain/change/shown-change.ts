import type { PartKind } from "../change-control/configuration.ts";
import type { Json } from "../json.ts";

/** `before` and `after` are null if the target does not exist at that time. */
export type ShownChange = {
  readonly target: { readonly kind: PartKind; readonly id: string };
  readonly before: Json;
  readonly after: Json;
};
