const ALL_SOURCES = 50;

/** The figures of the month that begins then, by source and day. */
export const usageQuery = (start: string) =>
  ({ metric: "admitted,blocked", by: "source", step: "1d", from: start, limit: ALL_SOURCES }) as const;

/** When the month began, as the service's summary has it: months are those of UTC. */
export const monthStart = (now: number): string =>
  `${new Date(now).toISOString().slice(0, "2026-11".length)}-01T00:00:00.000Z`;
