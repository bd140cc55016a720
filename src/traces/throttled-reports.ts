const EVERY_MS = 60_000;

/** `count` is the number of spans that were dropped since the last report. */
export type ReportRefusals = (error: Error, count: number) => void;

/** Reports the first refusal at once. Later ones are reported together once a minute, with the reason of the last. */
export const throttledReports = (report: ReportRefusals, everyMs = EVERY_MS): ReportRefusals => {
  let unreported = 0;
  let last: Error | null = null;
  let timer: NodeJS.Timeout | null = null;
  const reportAll = (): void => {
    timer = null;
    if (last === null) return;
    const [error, count] = [last, unreported];
    last = null;
    unreported = 0;
    timer = setTimeout(reportAll, everyMs).unref();
    report(error, count);
  };
  return (error, count) => {
    last = error;
    unreported += count;
    if (timer === null) reportAll();
  };
};
