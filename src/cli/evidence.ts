import { randomBytes } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ED25519, parseSignerKey, type SignerKey, verifierKey } from "../../domain/evidence/signed-note.ts";
import { ed25519Signer } from "../../infra/crypto/ed25519.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { build } from "../config.ts";
import type { ControlFile } from "../evidence-pack/control-file.ts";
import {
  CONTROL_FILE_BYTES_MAX,
  FRAMEWORKS,
  includedControlText,
  readControlText,
} from "../evidence-pack/control-text.ts";
import type { Findings } from "../evidence-pack/findings.ts";
import {
  emptyFolder,
  folderFor,
  type MadePack,
  packAround,
  refuseUsedFolder,
  saveExport,
  verifierKeyOf,
} from "../evidence-pack/make-pack.ts";
import { OUT_OF_ORDER_MS } from "../evidence-pack/query/coverage.ts";
import type { Period } from "../evidence-pack/query/filter.ts";
import { BadControlFile } from "../evidence-pack/query/reader.ts";
import { stateOf } from "../evidence-pack/report/claim.ts";
import { limitHeapGrowth } from "../threads/garbage-collection.ts";
import { API_HELP, API_OPTIONS, API_SYNOPSIS, type Api, apiOf } from "./api.ts";
import { type Arguments, type Command, type Env, type Options, type Terminal, UsageError } from "./command.ts";
import { json, table } from "./formats.ts";
import { progress } from "./progress.ts";

const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z)?$/;
const FRAMEWORK_DEFAULT = "generic";
const THROWAWAY_NAME = "evidence-pack";
const KEY_FILE_BYTES_MAX = 4_096;

const timeOf = (text: unknown, option: string): string => {
  const ms = typeof text === "string" && DATE.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw new UsageError(`${option} takes a UTC date or time: 2026-01-31, or 2026-01-31T12:00:00Z.`);
  return new Date(ms).toISOString();
};

const periodOf = ({ from, to }: Options): Period => {
  const period = { from: timeOf(from, "--from"), to: timeOf(to, "--to") };
  if (period.from >= period.to) throw new UsageError("--from has to be before --to.");
  return period;
};

const fileText = async (path: string, max: number): Promise<Buffer> => {
  const { size } = await stat(path);
  if (size > max) throw new UsageError(`${path} has ${size} bytes; at most ${max} are allowed.`);
  return readFile(path);
};

type Controls = { readonly controlText: string; readonly controlFile: ControlFile };

const controlsOf = async ({ framework = FRAMEWORK_DEFAULT }: Options): Promise<Controls> => {
  const name = String(framework);
  const included = includedControlText(name);
  const bytes = included === null ? await fileText(name, CONTROL_FILE_BYTES_MAX) : Buffer.from(included);
  try {
    return { controlText: bytes.toString(), controlFile: readControlText(bytes) };
  } catch (error) {
    if (error instanceof BadControlFile) throw new UsageError(`${name}: ${error.message}`);
    throw error;
  }
};

const throwawaySigner = (): SignerKey => {
  const seed = new Uint8Array(randomBytes(32));
  const { keyId } = verifierKey(sha256, THROWAWAY_NAME, ED25519, ed25519Signer(seed).publicKey);
  return { name: THROWAWAY_NAME, keyId, type: ED25519, seed };
};

const signerOf = async (options: Options): Promise<SignerKey> => {
  const path = options["sign-key"];
  if (path === undefined) return throwawaySigner();
  const key = parseSignerKey((await fileText(String(path), KEY_FILE_BYTES_MAX)).toString().trim());
  if (key === null) throw new UsageError(`${path} is no signer key: one line, PRIVATE+KEY+<name>+<hash>+<base64>.`);
  return key;
};

type Indexed = { readonly data: readonly { readonly index: number }[] };

/** The years of a period have four digits. */
const [EARLIEST, LATEST] = [Date.parse("0000-01-01"), Date.parse("9999-12-31T23:59:59.999Z")];

const moved = (time: string, ms: number): string =>
  new Date(Math.min(LATEST, Math.max(EARLIEST, Date.parse(time) + ms))).toISOString();

type Range = { readonly from_index: number; readonly to_index?: number };

/**
 * The indexes from the first record that says a time of the period to the last, and on each side those up to one that shows
 * that the period has no others. Without such a record after it, the service sends all that is sealed.
 */
const rangeOf = async (api: Api, { from, to }: Period): Promise<Range> => {
  const find = async (order: "asc" | "desc", within: Partial<Period>): Promise<number | null> => {
    const { data } = await api.get<Indexed>("/v1/audit", { ...within, order, limit: 1 });
    return data[0]?.index ?? null;
  };
  const first = await find("asc", { from, to });
  const last = await find("desc", { from, to });
  if (first === null || last === null) throw new Error(`The account has no record from ${from} to before ${to}.`);
  const before = await find("desc", { to: moved(from, -OUT_OF_ORDER_MS) });
  const after = await find("asc", { from: moved(to, OUT_OF_ORDER_MS) });
  const from_index = Math.min(first, before ?? 0);
  return after === null ? { from_index } : { from_index, to_index: Math.max(last, after) + 1 };
};

/** It is opened only when it is read: a call that is refused before that leaves no file behind that is still being opened. */
async function* bytesOf(path: string): AsyncIterable<Uint8Array> {
  yield* createReadStream(path);
}

/** The export as the service sends it, or as it is in a file that was saved before. */
const exportOf = async (args: Arguments, env: Env, period: Period): Promise<AsyncIterable<Uint8Array>> => {
  const { export: saved, payloads, "only-period": onlyPeriod } = args.options;
  if (saved !== undefined) {
    if (!existsSync(String(saved))) throw new UsageError(`There is no file "${saved}".`);
    return bytesOf(String(saved));
  }
  const api = apiOf(args, env);
  const query = new URLSearchParams();
  if (payloads === true) query.set("payloads", "1");
  if (onlyPeriod === true) {
    for (const [name, index] of Object.entries(await rangeOf(api, period))) query.set(name, String(index));
  }
  // The signal is never aborted. With one there is no timeout: an export takes as long as it takes.
  const { signal } = new AbortController();
  const response = await api.open(`/v1/audit/export?${query}`, { accept: "application/x-ndjson" }, signal);
  if (response.body === null) throw new Error("The service answered without an export.");
  return response.body;
};

/** Makes the pack in a folder beside its own, which appears when it is whole: a crash or a refusal leaves no half pack there. */
const whole = async <T>(folder: string, make: (partial: string) => Promise<T>): Promise<T> => {
  await refuseUsedFolder(folder);
  const removeParents = await folderFor(dirname(folder));
  const partial = await mkdtemp(`${folder}.partial-`);
  try {
    const made = await make(partial);
    await emptyFolder(folder);
    await chmod(partial, (await stat(folder)).mode);
    await rename(partial, folder);
    return made;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    await removeParents();
    throw error;
  }
};

const countsOf = ({ controls }: Findings): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { word } of controls.flatMap(({ claims }) => claims.map(stateOf)))
    counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
};

const coveredIn = ({ covers: { start, end, up_to } }: Findings["export"]): string => {
  const until = end ? "to its end" : `up to ${up_to ?? "no time"}`;
  if (start)
    return end ? "the whole period" : `the period from its beginning ${until}; claims about the rest stay open`;
  return `a part of the period ${until}, whose beginning is not shown; claims about the rest stay open`;
};

const say = (terminal: Terminal, folder: string, { findings, signedBy }: MadePack): void => {
  const { controls, export: exported } = findings;
  for (const { id, claims } of controls) {
    for (const claim of claims) {
      if (claim.holds === false || claim.unanswered !== null) {
        terminal.note(`${id}, ${claim.id}: ${stateOf(claim).word.toLowerCase()}`);
      }
    }
  }
  const counts = [...countsOf(findings)].map(([word, count]) => `${count} ${word.toLowerCase()}`);
  const rows = [
    ["folder", folder],
    ["records", `${exported.records}, of which ${exported.in_period.records} say a time of the period`],
    ["covered", coveredIn(exported)],
    ["claims", counts.join(", ")],
    ["signed by", signedBy],
    ["read", join(folder, "report.html")],
    ["check", `countersign verify ${folder} --key <the operator's key, from elsewhere>`],
  ];
  for (const line of table(rows)) terminal.out(line);
};

export const evidence: Command = {
  synopsis: `--from <time> --to <time> [--framework ${FRAMEWORKS.join("|")}|<file>] [--out <folder>] ${API_SYNOPSIS}`,
  help: [
    "Makes a folder with all of the account's records up to the newest checkpoint, their proofs, the answers",
    "to the claims of a control file, and a report to read. `countersign verify <folder>` checks all of it.",
    "--from <time>       the first moment of the period, in UTC: 2026-01-01, or 2026-01-01T12:00:00Z",
    "--to <time>         the moment just after the period; claims hold only if a record from a minute later is sealed",
    `--framework <name>  ${FRAMEWORKS.join(", ")}, or a control file; default: ${FRAMEWORK_DEFAULT}`,
    "--out <folder>      a new or empty folder; default: evidence-<from>-<to>",
    "--export <file>     uses this export instead of asking the service",
    "--only-period       exports the records of the period alone; claims that need earlier ones stay open",
    "--payloads          includes payloads that were not erased: whoever gets the folder can read them",
    "--sign-key <file>   signs the list of files with this key; default: a key made for this pack alone",
    "--print-framework   prints the control file, as a start for one of your own, and makes nothing",
    ...API_HELP,
  ],
  options: {
    ...API_OPTIONS,
    from: { type: "string" },
    to: { type: "string" },
    framework: { type: "string" },
    out: { type: "string" },
    export: { type: "string" },
    "only-period": { type: "boolean" },
    payloads: { type: "boolean" },
    "sign-key": { type: "string" },
    "print-framework": { type: "boolean" },
  },
  async run(args, env, terminal) {
    const { options, positionals } = args;
    if (positionals.length > 0) throw new UsageError("evidence takes options only.");
    const controls = await controlsOf(options);
    if (options["print-framework"] === true) return terminal.out(controls.controlText.trimEnd());
    const period = periodOf(options);
    const signer = await signerOf(options);
    const day = (iso: string): string => iso.slice(0, 10);
    const folder = resolve(String(options.out ?? `evidence-${day(period.from)}-${day(period.to)}`));
    const chunks = await exportOf(args, env, period);
    limitHeapGrowth();
    const told = progress(terminal);
    const made = await whole(folder, async (partial) => {
      await saveExport(partial, chunks);
      const [madeAt, madeBy] = [new Date().toISOString(), build(env).version];
      const onRecord = (count: number): void => told("asked", count);
      return packAround({ folder: partial, signer, period, madeAt, madeBy, onRecord, ...controls });
    });
    const { findings } = made;
    if (options.json !== true) return say(terminal, folder, made);
    const claims = Object.fromEntries(countsOf(findings));
    terminal.out(json({ folder, records: findings.export.records, claims, signed_by: verifierKeyOf(signer) }));
  },
};
