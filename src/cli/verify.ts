import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { build } from "../config.ts";
import { type InputFile, verifyFiles } from "../verifier/files.ts";
import type { Report, Verdict } from "../verifier/report.ts";
import { inWords } from "../verifier/words.ts";
import { type Command, Ended, UsageError } from "./command.ts";
import { folderInWords, verifyFolder } from "./verify-folder.ts";

/** 1 and 2 are those of every command: it could not be done, or the call was wrong. */
const EXIT_CODES: Readonly<Record<Verdict, number>> = { authentic: 0, consistent: 3, incomplete: 4, broken: 5 };
const CHUNK_BYTES = 64 * 1024;

const inputFile = async (path: string): Promise<InputFile> => ({
  name: basename(path),
  size: (await stat(path)).size,
  bytes: () => createReadStream(path, { highWaterMark: CHUNK_BYTES }),
});

export const verify: Command = {
  synopsis:
    "<file>...|<folder> [--key <vkey>]... [--witness <vkey>]... [--previous <file>]... [--pack-key <vkey>] [--json]",
  help: [
    "Checks without a network what GET /v1/audit/export, /proof, /checkpoint and /consistency",
    "answered. The files are one export, or one proof and its leaf, or one checkpoint; a consistency",
    "proof may be added. Believes no key that a file names. Of a folder that `countersign evidence` made,",
    "it checks each file, and asks all queries again.",
    "--key <vkey>       the service's key, from GET /v1/audit/key, as you got it from elsewhere",
    "--witness <vkey>   a witness that must have cosigned; may be given several times",
    "--previous <file>  a checkpoint that you kept: the records must continue it",
    "--pack-key <vkey>  the key of whoever made the folder: its list of files must be signed by it",
    "--json             prints the report as JSON",
    "Ends with 0 if the file is authentic, 3 if it is only consistent (no key was given), 4 if",
    "something is missing, 5 if it is broken; 1 if it could not be read, 2 for a wrong call.",
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
    const previous = await Promise.all((lists.previous ?? []).map((path) => readFile(path, "utf8")));
    const given = { keys: lists.key ?? [], witnesses: lists.witness ?? [], previous };
    const end = (report: Report, inLines: () => readonly string[]): void => {
      terminal.out(options.json === true ? JSON.stringify(report, null, 2) : inLines().join("\n"));
      const status = EXIT_CODES[report.verdict];
      if (status !== 0) throw new Ended(status);
    };
    const packKey = options["pack-key"] === undefined ? null : String(options["pack-key"]);
    if ((await stat(first)).isDirectory()) {
      if (others.length > 0) throw new UsageError("verify takes one folder, and no files with it.");
      const folder = await verifyFolder(first, given, { packKey, version: build(env).version });
      return end(folder, () => folderInWords(folder));
    }
    if (packKey !== null) throw new UsageError("--pack-key is for a folder that `countersign evidence` made.");
    const report = await verifyFiles(await Promise.all(positionals.map(inputFile)), given);
    end(report, () => inWords(report));
  },
};
