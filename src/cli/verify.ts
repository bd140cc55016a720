import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { isCode } from "../../infra/system-error.ts";
import { build } from "../config.ts";
import { type InputFile, verifyFiles, wrongInput, wrongOptions } from "../verifier/files.ts";
import type { Report, Verdict } from "../verifier/report.ts";
import { inWords } from "../verifier/words.ts";
import { type Command, Ended, UsageError } from "./command.ts";
import { folderInWords, verifyFolder } from "./verify-folder.ts";

/** 1 and 2 are those of every command: it could not be done, or the call was wrong. */
const EXIT_CODES: Readonly<Record<Verdict, number>> = { authentic: 0, consistent: 3, incomplete: 4, broken: 5 };
const CHUNK_BYTES = 64 * 1024;

const isMissing = (error: unknown): boolean => isCode(error, "ENOENT");

/** A wrong name is a wrong call. That a file is there and cannot be read is a failure, which keeps its own error. */
const named = async <T>(path: string, use: (path: string) => Promise<T>): Promise<T> => {
  try {
    return await use(path);
  } catch (error) {
    throw isMissing(error) ? new UsageError(`There is no file "${path}".`) : error;
  }
};

const sizeAndKind = (path: string) => stat(path);

/** What stands alone may be a folder: then the sentence says so. */
const firstNamed = async (path: string, isAlone: boolean) => {
  const found = await stat(path).catch((error: unknown) => (isMissing(error) ? null : Promise.reject(error)));
  if (found !== null) return found;
  throw new UsageError(isAlone ? `There is no folder or file "${path}".` : `There is no file "${path}".`);
};

const inputFile = async (path: string): Promise<InputFile> => ({
  name: basename(path),
  size: (await named(path, sizeAndKind)).size,
  bytes: () => createReadStream(path, { highWaterMark: CHUNK_BYTES }),
});

export const verify: Command = {
  synopsis:
    "<file>...|<folder> [--key <vkey>]... [--witness <vkey>]... [--previous <file>]... [--pack-key <vkey>] [--json]",
  help: [
    "Checks without a network what GET /v1/audit/export, /proof, /checkpoint and /consistency",
    "answered. The files are one export, or one proof and its leaf, or one checkpoint; consistency",
    "proofs may be added, each from a checkpoint given with --previous. Believes no key that a file names.",
    "Of a folder that `countersign evidence` made, it checks each file, and asks all queries again.",
    "--key <vkey>       the service's key, from GET /v1/audit/key, as you got it from elsewhere",
    "--witness <vkey>   a witness that must have cosigned; may be given several times",
    "--previous <file>  a checkpoint that you kept: the records must continue it",
    "--pack-key <vkey>  the key of whoever made the folder: its list of files must be signed by it",
    "--json             prints the report as JSON",
    "Ends with 0 if the file is authentic, 3 if it is only consistent (no key was given), 4 if",
    "something is missing, 5 if it is broken; 1 if a file could not be read, 2 for a wrong call: no such",
    "file, a file of another kind, two exports, or a key that is none.",
  ],
  options: {
    key: { type: "string", multiple: true },
    witness: { type: "string", multiple: true },
    previous: { type: "string", multiple: true },
    "pack-key": { type: "string" },
    json: { type: "boolean" },
  },
  async run({ positionals, options, lists }, env, terminal) {
    const [first, ...others] = positionals;
    if (first === undefined) throw new UsageError("verify takes the files to check.");
    const readText = (path: string) => readFile(path, "utf8");
    const previous = await Promise.all((lists.previous ?? []).map((path) => named(path, readText)));
    const given = { keys: lists.key ?? [], witnesses: lists.witness ?? [], previous };
    const end = (report: Report, inLines: () => readonly string[]): void => {
      terminal.out(options.json === true ? JSON.stringify(report, null, 2) : inLines().join("\n"));
      const status = EXIT_CODES[report.verdict];
      if (status !== 0) throw new Ended(status);
    };
    const packKey = options["pack-key"] === undefined ? null : String(options["pack-key"]);
    if ((await firstNamed(first, others.length === 0)).isDirectory()) {
      const wrong = wrongOptions(given);
      if (wrong !== null) throw new UsageError(wrong);
      if (others.length > 0) throw new UsageError("verify takes one folder, and no files with it.");
      const folder = await verifyFolder(first, given, { packKey, version: build(env).version });
      return end(folder, () => folderInWords(folder));
    }
    if (packKey !== null) throw new UsageError("--pack-key is for a folder that `countersign evidence` made.");
    const files = await Promise.all(positionals.map(inputFile));
    const wrong = await wrongInput(files, given);
    if (wrong !== null) throw new UsageError(wrong);
    const report = await verifyFiles(files, given);
    end(report, () => inWords(report));
  },
};
