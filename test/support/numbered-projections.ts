import { type Projection, perDocument } from "../../projections/projection.ts";

/** Projections of `numbered` events, as a module that the projector's thread can be told to load. */

export const COUNTS = "counts.v1";
/** The type of an event that `fragile.v1` throws at. */
export const REFUSES = "Refused";

const counting = (name: string): Projection =>
  perDocument<{ readonly count: number; readonly sum: number }>(
    { name, fields: { count: "number" }, indexes: [["count"]] },
    () => "all",
    (document, { data }) => ({ count: (document?.count ?? 0) + 1, sum: (document?.sum ?? 0) + Number(data.n) }),
  );

const fragile = counting("fragile.v1");

export const PROJECTIONS: readonly Projection[] = [
  counting(COUNTS),
  {
    ...fragile,
    apply(event, documents) {
      if (event.type === REFUSES) throw new Error("this one is refused");
      fragile.apply(event, documents);
    },
  },
];
