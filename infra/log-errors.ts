/** Nothing was written: the engine refused (disk full, read-only, closed). Safe to try again later. */
export class LogUnavailable extends Error {
  override readonly name = "LogUnavailable";
}

/** The reply was lost. Repeat with the same ids and revision, or read the stream, to learn what happened. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
}
