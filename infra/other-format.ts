/** The number of the format in which engines store a log's records; it rises when records or storage change. */
export const LOG_FORMAT = 6;

/** `isOtherFormat` compares the error's name, because an error from a worker thread loses its class. */
export class OtherFormat extends Error {
  override readonly name = "OtherFormat";

  /** `found` is null if the data name no format; `remedy` says how else the operator can go on. */
  constructor(what: string, found: number | string | null, known: number, remedy: string) {
    super(
      `${what} ${found === null ? "names no format" : `has format ${found}`}, and this version reads format ${known} alone: ` +
        `run the version that wrote it, or ${remedy}`,
    );
  }
}

export const isOtherFormat = (error: unknown): error is Error =>
  error instanceof Error && error.name === OtherFormat.name;
