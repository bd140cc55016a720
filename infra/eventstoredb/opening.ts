import { randomUUID } from "node:crypto";
import type { ExactAppends } from "./appends.ts";
import { attempts } from "./attempts.ts";
import { ConnectionFailure, type FailureReason } from "./connection.ts";
import type { Limits } from "./limits.ts";
import type { Pages } from "./pages.ts";
import { metadataEvent, metastreamOf, readMetadata } from "./stream-metadata.ts";

/** The mark of the log is in the metadata of a stream of this name, which has no events. */
const MARKED = "countersign";
const FORMAT = "countersign_format";
const FORMAT_VERSION = 1;

const REASONS: Partial<Record<FailureReason, string>> = {
  access:
    "it refuses the user name and password, which stand in front of the host (esdb://name:password@host:2113), " +
    "or that user may not read $all, or not write streams and their metadata",
  "not-eventstoredb": "what answers there is no EventStoreDB",
  "not-found": "there is no host of that name",
  "hung-up": "it hangs up, perhaps because it speaks TLS: then tls=false is wrong",
  "not-reached": "nothing answers there",
  silent: "it does not answer",
  tls: "it speaks no TLS (tls=false is for that), or its certificate is not trusted (tlsCAFile names the authority)",
};

/** The address alone: names, passwords, whatever is in them, and paths of keys are nobody's business. */
const addressOf = (url: string): string =>
  url.replace(/^(?<scheme>[^:]+:\/\/)(?:.*@)?(?<hosts>[^?/]*).*$/s, "$<scheme>$<hosts>");

const sentenceOf = (error: unknown): string => {
  const said = error instanceof Error ? error.message : String(error);
  const reason = error instanceof ConnectionFailure ? REASONS[error.reason] : undefined;
  return reason === undefined ? said : `${reason} (${said})`;
};

export type Opening = {
  readonly url: string;
  readonly pages: Pages;
  /** Null when nothing is to be written. */
  readonly exact: ExactAppends | null;
  readonly limits: Limits;
};

/** Whether the mark is there; throws when a newer version has made it. Writes it when it is not. */
const isMarked = async ({ pages, exact, limits }: Opening): Promise<boolean> => {
  const reading = attempts(limits, limits.openMs);
  // Asked for nothing but to know that it may be: whoever may read streams may not read the whole log by that alone.
  await reading((idleMs) => pages.allBefore("end", 1, idleMs));
  const { revision, fields } = await reading((idleMs) => readMetadata(pages, MARKED, idleMs));
  const version = fields[FORMAT];
  if (Number(version) > FORMAT_VERSION)
    throw new Error(`it was written by a newer version (format ${version}; this one knows ${FORMAT_VERSION})`);
  if (version !== undefined || exact === null) return true;
  const event = metadataEvent(randomUUID(), { ...fields, [FORMAT]: FORMAT_VERSION });
  await exact({ stream: metastreamOf(MARKED), expected: revision ?? "absent", events: [event] });
  return false;
};

/** Proves that the server is there, answers as it has to, and holds a log of this version. Throws a plain `Error` if not. */
export const checkOpened = async (opening: Opening): Promise<void> => {
  try {
    // Read again when it was written, by this node or by one that starts at the same time.
    while (!(await isMarked(opening)));
  } catch (error) {
    throw new Error(`EventStoreDB at ${addressOf(opening.url)} cannot be used: ${sentenceOf(error)}`);
  }
};
