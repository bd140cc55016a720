export const NOON_DAY = "2026-05-05";
const NOON_MS = Date.parse(`${NOON_DAY}T12:00:00.000Z`);

/** Goes as the wall's does, from noon on: whenever a test runs, no day and no month ends meanwhile. `advance` moves it on. */
export const noonClock = () => {
  const begun = performance.now();
  let aheadMs = 0;
  return {
    now: () => NOON_MS + aheadMs + Math.floor(performance.now() - begun),
    advance(ms: number): void {
      aheadMs += ms;
    },
  };
};
