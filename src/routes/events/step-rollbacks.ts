import type { BundleStep } from "../../../domain/delivery/events.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { type BundleDocument, bundles } from "../../../projections/bundles.ts";
import { typedDocument } from "../../views/typed-documents.ts";

/** `left`: a person still has to undo it. */
export const ROLLBACKS = ["undone", "undone_by_hand", "left"] as const;
type Rollback = (typeof ROLLBACKS)[number];

const rollbackOf = ({ steps, left }: BundleDocument, { index }: BundleStep): Rollback | null => {
  const step = steps[index];
  if (step === undefined) return null;
  if (step.status === "compensation_failed" || left.includes(index)) return "left";
  // Of a step that needs no undo nothing was taken back.
  if (step.status !== "compensated" || step.undo === "not-needed") return null;
  return step.resolution === null ? "undone" : "undone_by_hand";
};

/** `rollback`: what the rollback of its bundle made of the step; null if nothing, and for the event of an undo. */
export type StepOf = BundleStep & { readonly rollback: Rollback | null };

/**
 * An event ends before its bundle does, so the bundles tell what became of steps later. Each bundle is read once for all
 * of the events.
 */
export const withRollbacks = async <T extends { readonly bundle: BundleStep | null }>(
  views: Pick<ViewStore, "getMany">,
  account: string,
  events: readonly T[],
): Promise<readonly (Omit<T, "bundle"> & { readonly bundle: StepOf | null })[]> => {
  const ids = new Set(events.flatMap(({ bundle }) => (bundle === null || bundle.undo ? [] : [bundle.id])));
  const found = ids.size === 0 ? null : await views.getMany(bundles.schema.name, [...ids]);
  return events.map((event) => {
    const { bundle } = event;
    if (bundle === null) return { ...event, bundle };
    const document = bundle.undo ? undefined : found?.get(bundle.id);
    const known = document === undefined ? null : typedDocument<BundleDocument>(document);
    return { ...event, bundle: { ...bundle, rollback: known?.account === account ? rollbackOf(known, bundle) : null } };
  });
};
