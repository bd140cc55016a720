import { randomUUID } from "node:crypto";
import type { Clock } from "../../domain/ports.ts";
import type { ExactAppends } from "./appends.ts";
import { attempts } from "./attempts.ts";
import { aheadMs, type ClockLook, clockProblem, momentOf } from "./clock-check.ts";
import { ConnectionFailure, type FailureReason } from "./connection.ts";
import type { Limits } from "./limits.ts";
import type { Pages } from "./pages.ts";
import { metadataEvent, metastreamOf, readMetadata } from "./stream-metadata.ts";

/** The mark of the log is in the metadata of a stream of this name, which has no events. */
const MARKED = "countersign";
const FORMAT = "countersign_format";
const FORMAT_VERSION = 1;
/** Beside it, what names the log. */
const IDENTITY = "countersign_log";

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

const sentenceOf = (error: unknown): string => {
  const said = error instanceof Error ? error.message : String(error);
  const reason = error instanceof ConnectionFailure ? REASONS[error.reason] : undefined;
  return reason === undefined ? said : `${reason} (${said})`;
};

export type Opening = {
  /** For messages. */
  readonly address: string;
  readonly pages: Pages;
  /** Null when nothing is to be written. */
  readonly exact: ExactAppends | null;
  readonly limits: Limits;
  readonly clock: Clock;
};

/** What a mark says: `identity` is null where it has none and nothing is to be written, `look` where nothing was written. */
export type Mark = { readonly identity: string | null; readonly look: ClockLook | null };

/**
 * The mark; throws when a newer version has made it. Whoever may write writes it, also when it is there, to see what
 * time it is at the server. Null when somebody else has written it meanwhile.
 */
export const markOf = async ({ pages, exact, limits, clock }: Opening): Promise<Mark | null> => {
  const reading = attempts(limits, limits.openMs);
  // Asked for nothing but to know that it may be: whoever may read streams may not read the whole log by that alone.
  await reading((idleMs) => pages.allBefore("end", 1, idleMs));
  const { revision, fields } = await reading((idleMs) => readMetadata(pages, MARKED, idleMs));
  const version = fields[FORMAT];
  if (Number(version) > FORMAT_VERSION)
    throw new Error(
      `it was written by a newer version (format ${version}; this one knows ${FORMAT_VERSION}): install that version, or a later one`,
    );
  const named = fields[IDENTITY];
  const identity = typeof named === "string" ? named : null;
  if (exact === null) return { identity, look: null };

  const name = identity ?? randomUUID();
  const event = metadataEvent(randomUUID(), { ...fields, [FORMAT]: FORMAT_VERSION, [IDENTITY]: name });
  const from = momentOf(clock);
  const { outcome } = await exact({ stream: metastreamOf(MARKED), expected: revision ?? "absent", events: [event] });
  if (outcome === "conflict") return null;
  // Should it be somebody else's by now, that was written between the same two times.
  const { writtenMs } = await reading((idleMs) => readMetadata(pages, MARKED, idleMs));
  return { identity: name, look: writtenMs === null ? null : { writtenMs, from, to: momentOf(clock) } };
};

/**
 * Proves that the server is there, answers as it has to, holds a log of this version, and has this machine's time. Throws a
 * plain `Error` if not.
 */
export const checkOpened = async (opening: Opening): Promise<Mark> => {
  try {
    for (;;) {
      const mark = await markOf(opening);
      // Read again when it was written by a node that starts at the same time.
      if (mark === null) continue;
      const problem = mark.look === null ? null : clockProblem(aheadMs(mark.look));
      if (problem !== null) throw new Error(problem);
      return mark;
    }
  } catch (error) {
    throw new Error(`EventStoreDB at ${opening.address} cannot be used: ${sentenceOf(error)}`);
  }
};
