/**
 * What the evaluation of one policy on one event may take, in units of at most 10 ns each: 0.3 s at worst. Ordinary rules on
 * ordinary payloads take some hundreds; one regular expression of 30 instructions over a megabyte of text takes all.
 * Counted, not timed: the same event is always decided alike.
 */
const WORK_MAX = 30_000_000;

/** Thrown out of an evaluation whose work is used up. */
export class TooCostly extends Error {
  override readonly name = "TooCostly";
}

export type Meter = {
  /** Throws `TooCostly` when the work is used up, and at every further call. */
  spend(units: number): void;
  /** Called for each event. */
  reset(): void;
  readonly exceeded: boolean;
  /** Work since the last reset, at most the maximum. */
  readonly used: number;
};

export const meter = (workMax = WORK_MAX): Meter => {
  let left = workMax;
  return {
    spend(units) {
      left -= units;
      if (left < 0) throw new TooCostly("too much work");
    },
    reset() {
      left = workMax;
    },
    get exceeded() {
      return left < 0;
    },
    get used() {
      return workMax - Math.max(0, left);
    },
  };
};
