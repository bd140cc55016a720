/** Milliseconds of a clock that all processes of this machine share and that nobody sets. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
