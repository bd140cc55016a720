import type { RecordedEvent } from "../domain/ports.ts";

/**
 * The identity of a log that has none yet and is open for reading only, by its first event. Whoever writes to the log
 * names it, and what took this for its name then takes it for another log.
 */
export const identityOfUnnamed = ([first]: readonly RecordedEvent[]): string => `unnamed-${first?.id ?? "empty"}`;
