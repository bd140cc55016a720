/** A collector that refuses everything does so with each request. */
const EVERY_MS = 60_000;

/** `more` says how many spans were dropped since it was told last. */
export type TellRefusals = (error: Error, more: number) => void;

/** The first refusal is told at once, those behind it together once a minute, with the last one's reason. */
export const refusalsTold = (tell: TellRefusals, everyMs = EVERY_MS): TellRefusals => {
  let untold = 0;
  let last: Error | null = null;
  let timer: NodeJS.Timeout | null = null;
  const tellAll = (): void => {
    timer = null;
    if (last === null) return;
    const [error, count] = [last, untold];
    last = null;
    untold = 0;
    // What is refused from here on waits for its turn.
    timer = setTimeout(tellAll, everyMs).unref();
    tell(error, count);
  };
  return (error, count) => {
    last = error;
    untold += count;
    if (timer === null) tellAll();
  };
};
