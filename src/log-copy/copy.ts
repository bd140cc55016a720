import type { EventLog, Revision } from "../../domain/ports/event-log.ts";
import { appending, CopyRefused } from "./append.ts";
import type { Chain } from "./chain.ts";
import { type Comparison, compareLogs, NOTHING_COMPARED } from "./compare.ts";
import { recordsOf } from "./records.ts";

type Step = "comparing" | "copying" | "verifying";

export type CopyOptions = {
  /** How many appends, sent together, the target commits in order and all or none; 1 if that is not certain. */
  readonly inFlight: number;
  readonly pageMax?: number;
  readonly onProgress?: (step: Step, records: number) => void;
};

export type Copied = {
  readonly found: number;
  readonly copied: number;
  /** Payloads erased in the source since they were copied, and now erased in the target. */
  readonly erased: number;
  /** Of both logs, by reading them again: equal. */
  readonly source: Chain;
  readonly target: Chain;
};

const checkCopy = ({ difference }: Comparison): void => {
  if (difference !== null) throw new CopyRefused(`The target is not a copy of the source. ${difference}`);
};

/**
 * Copies a log into another engine. Everything but positions stays the same. It copies what the source has at the
 * start. A repeated copy continues after what the target has, which must be a beginning of the source, and erases what
 * the source has erased since. Throws `CopyRefused` and the logs' errors.
 */
export const copyLog = async (
  source: EventLog,
  target: EventLog,
  { inFlight, pageMax, onProgress = () => undefined }: CopyOptions,
): Promise<Copied> => {
  const end = await source.head();
  const before = await compareLogs(source, target, NOTHING_COMPARED, end, (n) => onProgress("comparing", n));
  checkCopy(before);
  // Erased at the end, when the target has the records that follow: to erase the last event of a stream, an engine may
  // take the next revision.
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
