import type { RecordedEvent } from "../domain/ports/event-log.ts";

/** Nothing was written: the engine refused (disk full, read-only, closed). Safe to try again later. */
export class LogUnavailable extends Error {
  override readonly name = "LogUnavailable";
}

/** The reply was lost. Repeat with the same ids and revision, or read the stream, to learn what happened. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
}

/** Nothing was written, and the same append never will be: it has more bytes than the engines take at once. */
export class AppendTooLarge extends Error {
  override readonly name = "AppendTooLarge";
  readonly bytes: number;
  readonly bytesMax: number;

  constructor(bytes: number, bytesMax: number) {
    super(`an append of ${bytes} bytes: at most ${bytesMax} are taken at once`);
    this.bytes = bytes;
    this.bytesMax = bytesMax;
  }
}

/** A record's bytes were changed on disk so that it cannot be read. Nothing that needs it may go on as if it were not there. */
export class RecordDamaged extends Error {
  override readonly name = "RecordDamaged";

  constructor({ stream, revision, position }: Pick<RecordedEvent, "stream" | "revision" | "position">) {
    super(
      `the log is damaged: ${stream}, revision ${revision}, at position ${position}, cannot be read. Restore the log from a backup`,
    );
  }
}
