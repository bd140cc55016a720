import type { EventLog, Revision } from "../../domain/ports/event-log.ts";
import { appending, CopyRefused } from "./append.ts";
import type { Chain } from "./chain.ts";
import { type Comparison, compareLogs, NOTHING_COMPARED } from "./compare.ts";
import { recordsOf } from "./records.ts";

type Step = "comparing" | "copying" | "verifying";

export type CopyOptions = {
  /** Appends that, sent together, the target commits in their order and all or none; 1 where that is not certain. */
  readonly inFlight: number;
  /** Records read at once, at most. */
  readonly pageMax?: number;
  readonly onProgress?: (step: Step, records: number) => void;
};

export type Copied = {
  /** Records that were in the target before. */
  readonly found: number;
  readonly copied: number;
  /** Payloads that were erased in the source since they were copied, and are erased in the target. */
  readonly erased: number;
  /** Of the source and of the target, by reading both again: equal. */
  readonly source: Chain;
  readonly target: Chain;
};

/** A target that is not a copy is left as it is. */
const checkCopy = ({ difference }: Comparison): void => {
  if (difference !== null) throw new CopyRefused(`The target is not a copy of the source. ${difference}`);
};

/**
 * Copies a log into another engine's: order, streams, revisions, ids, types, data and metadata stay, positions are the
 * target's own. What the source has when this begins is copied; a repeat goes on from what the target has, which has to
 * be a beginning of the source, and erases what the source has erased since. Throws `CopyRefused`, and the logs' errors.
 */
export const copyLog = async (
  source: EventLog,
  target: EventLog,
  { inFlight, pageMax, onProgress = () => undefined }: CopyOptions,
): Promise<Copied> => {
  const end = await source.head();
  const before = await compareLogs(source, target, NOTHING_COMPARED, end, (n) => onProgress("comparing", n));
  checkCopy(before);
  // Erased at the end, when what stands behind it in the source stands there in the target as well: to erase the last
  // event of a stream an engine may take the next revision.
  const gone = new Map(before.gone);
  const goes = (more: ReadonlyMap<string, Revision>): void => {
    for (const [stream, upTo] of more) gone.set(stream, Math.max(upTo, gone.get(stream) ?? 0));
  };

  const { sourceAfter } = before.compared;
  let copied = 0;
  if (end !== null) {
    const append = appending(source, target, inFlight);
    for await (const record of recordsOf(source, sourceAfter, end, pageMax)) {
      await append.add(record);
      copied += 1;
      onProgress("copying", copied);
    }
    await append.flush();
    goes(append.shown);
  }

  const after = await compareLogs(source, target, before.compared, end, (n) => onProgress("verifying", n));
  checkCopy(after);
  goes(after.gone);
  for (const [stream, upTo] of gone) await target.erase(stream, upTo);
  if (after.missing !== null) {
    const { stream, revision } = after.missing;
    throw new CopyRefused(`The target ends before ${stream}, revision ${revision}: run the same copy again.`);
  }
  return {
    found: before.compared.target.count,
    copied,
    erased: gone.size,
    source: after.compared.source,
    target: after.compared.target,
  };
};
