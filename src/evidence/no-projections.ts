import type { Projection } from "../../projections/projection.ts";

/** A node without the role "projector" folds the evidence alone. */
export const PROJECTIONS: readonly Projection[] = [];
