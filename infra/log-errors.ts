import type { RecordedEvent } from "../domain/ports/event-log.ts";

export class LogUnavailable extends Error {
  override readonly name = "LogUnavailable";
}

/** The append's reply was lost: the caller repeats it with the same ids and revision, or reads the stream. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
}

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

export class RecordDamaged extends Error {
  override readonly name = "RecordDamaged";

  constructor({ stream, revision, position }: Pick<RecordedEvent, "stream" | "revision" | "position">) {
    super(
      `the log is damaged: ${stream}, revision ${revision}, at position ${position}, cannot be read. Restore the log from a backup`,
    );
  }
}
