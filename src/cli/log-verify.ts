import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { randomness } from "../../infra/crypto/randomness.ts";
import { sqliteEvidenceStore, sqliteEvidenceToRead } from "../../infra/sqlite/evidence-store.ts";
import { DAMAGED_TYPE } from "../../infra/stream-name.ts";
import { evidenceFileOf, type LogLocation, openLog } from "../engine/open-engines.ts";
import type { Chain } from "../log-copy/chain.ts";
import { chainOf } from "../log-copy/records.ts";
import { foldToEnd } from "../sealing/folded-log.ts";
import { LastCheckpoint, lastCheckpointFileOf } from "../sealing/last-checkpoint.ts";
import { firstSealedFault, type Reference, type SealedFault } from "../sealing/sealed-fault.ts";
import { signingKeyPlaceOf } from "../sealing/signing-key.ts";
import { type Command, Ended, type Options, type Terminal, UsageError } from "./command.ts";
import { checkExists, LOG_PLACES, parseLogLocation } from "./log-location.ts";
import { payloadDifferences } from "./payload-differences.ts";
import { progress } from "./progress.ts";

type OpenLog = Awaited<ReturnType<typeof openLog>>;

export const chainLine = ({ count, sha256 }: Chain): string => `${count} records, sha256 ${sha256}`;

const HOWS = {
  changed: "was changed since it was sealed",
  removed: "is one that came later: the record that was sealed here was removed",
  inserted: "was inserted: what was sealed here comes after it",
  exchanged: "and the one after it were exchanged",
  "cut-off": "is missing, although it was sealed",
  replaced: "is not the one that was sealed: it was changed, or records before it were removed or inserted",
} as const;

const inWords = (fault: SealedFault): string => {
  switch (fault.kind) {
    case "record": {
      const { account, index, how, record } = fault;
      const name = record === null ? "" : ` (${record.stream}, revision ${record.revision}, ${record.type})`;
      return `Record ${index} of ${account}${name} ${HOWS[how]}.`;
    }
    case "range":
      return (
        `One of the records ${fault.from} to ${fault.to - 1} of ${fault.account} was changed, removed or inserted since ` +
        "they were sealed. The file evidence.db of a node that folded them before tells which: name it with --evidence."
      );
    case "seal":
      return `The seal ${fault.leaf} was changed or removed. All records that it covers are as they were sealed.`;
    case "checkpoint":
      return `The log does not lead to the checkpoint of size ${fault.size} that was shown: it was cut off or written anew.`;
  }
};

const fileIn = (given: string | boolean | undefined, found: string | null): string | null => {
  if (typeof given !== "string") return found !== null && existsSync(found) ? found : null;
  if (!existsSync(given)) throw new UsageError(`There is no file ${given}.`);
  return given;
};

const referenceIn = (file: string | null, { note }: Terminal): (Reference & { close(): Promise<void> }) | null => {
  if (file === null) return null;
  const reference = sqliteEvidenceToRead(file);
  if (reference === null) note(`${file} cannot be read or has another format, so nothing is compared with it.`);
  return reference;
};

const shownIn = async (file: string | null) => (file === null ? null : new LastCheckpoint(file, randomness).read());

/** Folds the log anew, in a folder that is removed afterwards. */
const sealedFault = async (
  log: OpenLog,
  location: LogLocation,
  { options, terminal }: { readonly options: Options; readonly terminal: Terminal },
): Promise<SealedFault | null> => {
  const dataDir = location.engine === "sqlite" ? dirname(location.path) : null;
  const beside = dataDir === null ? null : lastCheckpointFileOf(signingKeyPlaceOf({ auditKeyFile: null, dataDir }));
  const shown = await shownIn(fileIn(options.checkpoint, beside));
  const evidence = fileIn(options.evidence, dataDir === null ? null : evidenceFileOf({ dataDir }));
  const folder = mkdtempSync(join(tmpdir(), "countersign-verify-"));
  const reference = referenceIn(evidence, terminal);
  const own = sqliteEvidenceStore(join(folder, "evidence.db"));
  try {
    await foldToEnd(log, own);
    return await firstSealedFault({ log, own }, { reference, shown });
  } finally {
    await own.close();
    await reference?.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

const DIFFERENCES_SHOWN_MAX = 20;

/** Names the first payloads that are not those that were recorded, and answers how many there are. */
const notedDifferences = async (
  log: OpenLog,
  { note }: Terminal,
  say: ReturnType<typeof progress>,
): Promise<number> => {
  let count = 0;
  for await (const { id, record } of payloadDifferences(log, (compared) => say("compared", compared))) {
    const { stream, revision, type, meta } = record;
    count += 1;
    if (count <= DIFFERENCES_SHOWN_MAX)
      note(
        `The payload ${id} is not the one that ${stream}, revision ${revision} (${type}) of ${meta.account} commits to.`,
      );
  }
  if (count > DIFFERENCES_SHOWN_MAX) note(`So are ${count - DIFFERENCES_SHOWN_MAX} more.`);
  return count;
};

export const logVerify: Command = {
  synopsis: "<place> [--evidence <file>] [--checkpoint <file>] [--payloads]",
  help: [
    "Prints the number of records in a log and a hash over them in their order. Both are equal for",
    "a log and its copy. Erased payloads are not included. Then folds the log anew and compares it with",
    "its seals, and names the first record that was changed, removed or inserted since it was sealed.",
    "Without what a node has folded before, it names the range of sealed records in which that one is.",
    "Names payloads that cannot be read; it stops at a damaged record. Ends with 1 if anything is not as",
    "it was.",
    `<place>              ${LOG_PLACES}`,
    "--evidence <file>    what a node has folded before, which tells one record from its neighbours; by",
    "                     default evidence.db beside an embedded log",
    "--checkpoint <file>  an instance checkpoint that the log must lead to; by default the one beside",
    "                     the signing key of an embedded log",
    "--payloads           also compares each payload that was not erased with what its record commits to,",
    "                     which reads all of them once more. Whether one that is not there was erased is told",
    "                     by countersign verify, of an export with payloads=1",
  ],
  options: { evidence: { type: "string" }, checkpoint: { type: "string" }, payloads: { type: "boolean" } },
  async run({ positionals: [text, ...others], options }, _env, terminal) {
    if (text === undefined || others.length > 0) throw new UsageError("log verify takes one place.");
    const location = parseLogLocation(text);
    checkExists(location);
    const log = await openLog(location, { readOnly: true });
    try {
      const say = progress(terminal);
      let damaged = 0;
      const chain = await chainOf(log, (count, { type, stream, revision }) => {
        say("read", count);
        if (type !== DAMAGED_TYPE) return;
        damaged += 1;
        terminal.note(
          `${stream}, revision ${revision}, cannot be read: restore the log from a backup, or erase that payload.`,
        );
      });
      terminal.out(chainLine(chain));
      const fault = await sealedFault(log, location, { options, terminal });
      if (fault !== null) terminal.note(inWords(fault));
      const differing = options.payloads === true ? await notedDifferences(log, terminal, say) : 0;
      if (damaged > 0 || fault !== null || differing > 0) throw new Ended(1);
    } finally {
      await log.close();
    }
  },
};
