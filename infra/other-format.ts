/** The shape of the log's records and their storage in an engine; raised when either changes. */
export const LOG_FORMAT = 2;

/** An error from a worker thread loses its class and keeps its name: `isOtherFormat` compares the name. */
export class OtherFormat extends Error {
  override readonly name = "OtherFormat";

  /** `found`: null if the data name no format. `remedy`: what else the operator can do. */
  constructor(what: string, found: number | string | null, known: number, remedy: string) {
    super(
      `${what} ${found === null ? "names no format" : `has format ${found}`}, and this version reads format ${known} alone: ` +
        `run the version that wrote it, or ${remedy}`,
    );
  }
}

export const isOtherFormat = (error: unknown): error is Error =>
  error instanceof Error && error.name === OtherFormat.name;
