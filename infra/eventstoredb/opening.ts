import { randomUUID } from "node:crypto";
import type { Clock } from "../../domain/ports/clock.ts";
import { errorMessage } from "../error-message.ts";
import { isOtherFormat, LOG_FORMAT, OtherFormat } from "../other-format.ts";
import type { ExactAppends } from "./appends.ts";
import { attempts } from "./attempts.ts";
import { aheadMs, type ClockLook, clockProblem, momentOf } from "./clock-check.ts";
import { ConnectionFailure, type FailureReason } from "./connection.ts";
import { deadlineIn, type Limits } from "./limits.ts";
import type { Pages } from "./pages.ts";
import { metadataEvent, metastreamOf, readMetadata } from "./stream-metadata.ts";

/** This stream's first event has the log's identity and format; its metadata is written to learn the server's time. */
const NAMED = "countersign";
const NAMED_TYPE = "LogNamed";

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
  const message = errorMessage(error);
  const reason = error instanceof ConnectionFailure ? REASONS[error.reason] : undefined;
  return reason === undefined ? message : `${reason} (${message})`;
};

export type Opening = {
  readonly address: string;
  readonly pages: Pages;
  readonly hasRecords: () => Promise<boolean>;
  readonly exact: ExactAppends | null;
  readonly limits: Limits;
  readonly clock: Clock;
};

export type OpenedLog = { readonly identity: string | null; readonly look: ClockLook | null };

const readName = async ({ address, pages, limits }: Opening): Promise<string | null> => {
  const reading = attempts(limits, limits.openMs);
  const [first] = await reading((idleMs) => pages.stream(NAMED, 0, 1, idleMs));
  if (first === undefined) return null;
  const { format = null, identity = null } = first.data ?? {};
  if (format !== LOG_FORMAT || typeof identity !== "string")
    throw otherFormat(address, typeof format === "number" ? format : null);
  return identity;
};

const otherFormat = (address: string, found: number | null): OtherFormat =>
  new OtherFormat(`the log at ${address}`, found, LOG_FORMAT, "name a server without a log to begin a new one");

/** The log's identity, made for an empty log; null if that is read-only. Throws `OtherFormat` for unnamed records. */
export const nameOf = async (opening: Opening): Promise<string | null> => {
  const name = await readName(opening);
  if (name !== null) return name;
  // Another node may have named the log and appended records since the name was read, so it is read once more.
  if (await opening.hasRecords()) {
    const namedSince = await readName(opening);
    if (namedSince === null) throw otherFormat(opening.address, null);
    return namedSince;
  }
  if (opening.exact === null) return null;
  const data = new TextEncoder().encode(JSON.stringify({ format: LOG_FORMAT, identity: randomUUID() }));
  const event = { id: randomUUID(), type: NAMED_TYPE, data, meta: null };
  await opening.exact({ stream: NAMED, expected: "absent", events: [event] }, deadlineIn(opening.limits.openMs));
  return nameOf(opening);
};

/** Null if the server reports no time or the log is read-only; "overtaken" if another node wrote the metadata first. */
export const lookAtClock = async (opening: Opening): Promise<ClockLook | null | "overtaken"> => {
  const { pages, exact, limits, clock } = opening;
  if (exact === null) return null;
  const reading = attempts(limits, limits.openMs);
  const { revision, fields } = await reading((idleMs) => readMetadata(pages, NAMED, idleMs));
  const event = metadataEvent(randomUUID(), fields);
  const from = momentOf(clock);
  const look = { stream: metastreamOf(NAMED), expected: revision ?? "absent", events: [event] } as const;
  const { outcome } = await exact(look, deadlineIn(limits.openMs));
  if (outcome === "conflict") return "overtaken";
  const { writtenMs } = await reading((idleMs) => readMetadata(pages, NAMED, idleMs));
  return writtenMs === null ? null : { writtenMs, from, to: momentOf(clock) };
};

const open = async (opening: Opening): Promise<OpenedLog> => {
  const reading = attempts(opening.limits, opening.limits.openMs);
  // The server has a separate permission for reading the whole log, and this read shows at the start if it is missing.
  await reading((idleMs) => opening.pages.allBefore("end", 1, idleMs));
  const identity = await nameOf(opening);
  for (;;) {
    const look = await lookAtClock(opening);
    if (look === "overtaken") continue;
    const problem = look === null ? null : clockProblem(aheadMs(look));
    if (problem !== null) throw new Error(problem);
    return { identity, look };
  }
};

export const checkOpened = async (opening: Opening): Promise<OpenedLog> => {
  try {
    return await open(opening);
  } catch (error) {
    if (isOtherFormat(error)) throw error;
    throw new Error(`EventStoreDB at ${opening.address} cannot be used: ${sentenceOf(error)}`);
  }
};
