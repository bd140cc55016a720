import type { EventLog, Revision } from "../../domain/ports/event-log.ts";
import { CopyRefused, recordAppender } from "./append.ts";
import type { Chain } from "./chain.ts";
import { type Comparison, compareLogs, NOTHING_COMPARED } from "./compare.ts";
import { recordsOf } from "./records.ts";

type Step = "comparing" | "copying" | "verifying";

export type CopyOptions = {
  readonly inFlight: number;
  readonly pageMax?: number;
  readonly onProgress?: (step: Step, records: number) => void;
};

export type CopyResult = {
  readonly found: number;
  readonly copied: number;
  readonly erased: number;
  readonly source: Chain;
  readonly target: Chain;
};

const checkCopy = ({ difference }: Comparison): void => {
  if (difference !== null) throw new CopyRefused(`The target is not a copy of the source. ${difference}`);
};

/**
 * A repeated copy continues where the target ends and erases what the source has erased since. Throws `CopyRefused`,
 * for instance if the target is no copy of the source.
 */
export const copyLog = async (
  source: EventLog,
  target: EventLog,
  { inFlight, pageMax, onProgress = () => undefined }: CopyOptions,
): Promise<CopyResult> => {
  const end = await source.head();
  const before = await compareLogs(source, target, {
    from: NOTHING_COMPARED,
    end,
    onRecord: (n) => onProgress("comparing", n),
  });
  checkCopy(before);
  // Collected here and erased after all records are copied: an engine may take the next revision to erase a stream's
  // last event.
  const gone = new Map(before.gone);
  const goes = (more: ReadonlyMap<string, Revision>): void => {
    for (const [stream, upTo] of more) gone.set(stream, Math.max(upTo, gone.get(stream) ?? 0));
  };

  const { sourceAfter } = before.compared;
  let copied = 0;
  if (end !== null) {
    const append = recordAppender(source, target, inFlight);
    for await (const record of recordsOf(source, sourceAfter, end, pageMax)) {
      await append.add(record);
      copied += 1;
      onProgress("copying", copied);
    }
    await append.flush();
    goes(append.unerased);
  }

  const after = await compareLogs(source, target, {
    from: before.compared,
    end,
    onRecord: (n) => onProgress("verifying", n),
  });
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
