const AROUND_MS = 5 * 60_000;

/** The minutes before and after a moment, as a list has them in its address; none for a text that is no time. */
export const around = (moment: string): { readonly from?: string; readonly to?: string } => {
  const at = Date.parse(moment);
  if (Number.isNaN(at)) return {};
  return { from: new Date(at - AROUND_MS).toISOString(), to: new Date(at + AROUND_MS).toISOString() };
};
