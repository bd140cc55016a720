/** Units for one check; a unit takes at most 10 ns. Work is not timed, so that an event is always decided alike. */
const WORK_MAX = 30_000_000;

export class TooCostly extends Error {
  override readonly name = "TooCostly";
}

export type Meter = {
  /** Throws `TooCostly` once the work is used up, and at every further call. */
  spend(units: number): void;
  reset(): void;
  readonly exceeded: boolean;
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
