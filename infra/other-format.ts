/** The format of the log: the shape of its records, and how an engine keeps them. Raised when either changes. */
export const LOG_FORMAT = 2;

/**
 * The data are of another format than this version reads, so nothing of them was read. The message is one sentence. An error
 * that a worker thread throws loses its class on the way and keeps its name: `isOtherFormat` knows both.
 */
export class OtherFormat extends Error {
  override readonly name = "OtherFormat";

  /** `found`: what the data name, null where they name no format. `remedy`: what the operator can do, besides running the version that wrote them. */
  constructor(what: string, found: number | string | null, known: number, remedy: string) {
    super(
      `${what} ${found === null ? "names no format" : `has format ${found}`}, and this version reads format ${known} alone: ` +
        `run the version that wrote it, or ${remedy}`,
    );
  }
}

export const isOtherFormat = (error: unknown): error is Error =>
  error instanceof Error && error.name === OtherFormat.name;
