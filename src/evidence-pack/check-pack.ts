import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { VerifierKey } from "../../domain/evidence/signed-note.ts";
import type { JsonObject } from "../../domain/json.ts";
import { sameJson } from "../../domain/same-json.ts";
import { strictJson } from "../streams/strict-json.ts";
import type { ControlFile } from "./control-file.ts";
import { CONTROL_FILE_BYTES_MAX, readControlText } from "./control-text.ts";
import { type Derived, derive } from "./derive.ts";
import { bytesOf, digestOf } from "./file-digest.ts";
import { CONTROL_FILE, EXPORT_FILE, FINDINGS_FILE, MANIFEST_FILE, PACK_FILES, REPORT_FILE } from "./files.ts";
import { controlsUsing, type Findings } from "./findings.ts";
import { BadExport } from "./lines.ts";
import { MANIFEST_BYTES_MAX, type Manifest, readManifest } from "./manifest.ts";
import { BadControlFile, isObject } from "./query/reader.ts";

/** Something about a file of the pack that is not as it has to be. */
export type PackFault = {
  readonly file: string;
  readonly why: string;
  /** The controls whose claims use the file. */
  readonly controls: readonly string[];
};

export type PackVerdict = {
  readonly faults: readonly PackFault[];
  /** What was not checked, as phrases. */
  readonly unchecked: readonly string[];
  /** Which claims the export does not cover, and why, as sentences. */
  readonly open: readonly string[];
  /** Null if the manifest could not be read. */
  readonly manifest: Manifest | null;
  /** The manifest is signed by the key that was given. */
  readonly isVouchedFor: boolean;
};

export type PackToCheck = {
  readonly folder: string;
  /** The key of whoever made the pack, if it is known. */
  readonly packKey: VerifierKey | null;
  /** The version of the program that checks. */
  readonly version: string;
  readonly onRecord?: (count: number) => void;
};

/** Files that are small in any pack are read at once; a larger one is not theirs. */
const TEXT_BYTES_MAX = 64 * 1_024 * 1_024;
const ENTRIES_MAX = 1_000;

/** Null if it is not there, is no plain file (such as a link to another place), or is too large. */
const bytesIn = async (path: string, max: number): Promise<Buffer | null> => {
  const found = await lstat(path).catch(() => null);
  return found?.isFile() && found.size <= max ? readFile(path) : null;
};

const isPlainFile = async (path: string): Promise<boolean> => (await lstat(path).catch(() => null))?.isFile() === true;

/** Files whose bytes are not the ones listed, and files that nobody listed. */
const listFaults = async (folder: string, { files }: Manifest): Promise<readonly PackFault[]> => {
  const faults: PackFault[] = [];
  const all = [...new Set(files.flatMap(({ controls }) => controls))];
  for (const name of PACK_FILES) {
    const listed = files.find((it) => it.name === name);
    if (listed === undefined) {
      faults.push({ file: name, why: "it is not in the manifest", controls: all });
      continue;
    }
    const { controls } = listed;
    const path = join(folder, name);
    if (!(await isPlainFile(path))) {
      faults.push({ file: name, why: "it is missing", controls });
      continue;
    }
    const { size, sha256 } = await digestOf(path);
    if (size !== listed.size || sha256 !== listed.sha256) {
      const what = size === listed.size ? "its bytes are" : `its size is ${size}, not ${listed.size}: its bytes are`;
      faults.push({ file: name, why: `${what} not those that the manifest lists`, controls });
    }
  }
  const known = new Set([...PACK_FILES, MANIFEST_FILE]);
  for (const name of (await readdir(folder)).slice(0, ENTRIES_MAX)) {
    if (!known.has(name)) faults.push({ file: name, why: "it belongs to no evidence pack", controls: [] });
  }
  return faults;
};

/** A text says why there is no control file. */
const controlFileOf = (bytes: Buffer | null): ControlFile | string => {
  if (bytes === null) return "it is missing, or too large";
  try {
    return readControlText(bytes);
  } catch (error) {
    if (error instanceof BadControlFile) return error.message;
    throw error;
  }
};

type Controls = Findings["controls"];

const findingsIn = (bytes: Buffer): JsonObject => {
  const json = strictJson(bytes);
  return json.ok && isObject(json.value) ? json.value : {};
};

/** True if all that the file says is what was computed, but for `not_evidenced`, which another version may word otherwise. */
const hasSameFacts = (bytes: Buffer, computed: Findings): boolean =>
  // The findings are plain JSON.
  sameJson(
    { ...findingsIn(bytes), not_evidenced: null },
    { ...(computed as unknown as JsonObject), not_evidenced: null },
  );

const hasSameLimits = (bytes: Buffer, { not_evidenced }: Findings): boolean =>
  sameJson(findingsIn(bytes).not_evidenced, [...not_evidenced]);

const controlsIn = (bytes: Buffer): Controls | null => {
  const { controls } = findingsIn(bytes);
  // Each control is only compared with one that was computed here.
  return Array.isArray(controls) ? (controls as unknown as Controls) : null;
};

/** The controls whose part of the file is not what was computed; all if the file cannot be read. */
const differingControls = (bytes: Buffer, computed: Controls): readonly string[] => {
  const found = controlsIn(bytes);
  const ids = computed.map(({ id }) => id);
  if (found === null || found.length !== computed.length) return ids;
  return ids.filter((_, n) => !sameJson(found[n], computed[n]));
};

/** The claims that say in the pack that they hold, although the export does not show it. */
const falselyHeld = (bytes: Buffer, computed: Controls): string | null => {
  const found = controlsIn(bytes);
  const held = computed.flatMap(({ id, claims }, n) =>
    claims.flatMap((claim, m) => {
      const said: Partial<Controls[number]["claims"][number]> | undefined = found?.[n]?.claims?.[m];
      if (said?.holds !== true || claim.holds === true) return [];
      return [`${claim.id} of ${id}, because ${claim.open ?? "the records say otherwise"}`];
    }),
  );
  return held.length === 0 ? null : `it says that a claim holds which the export does not show: ${held.join("; and ")}`;
};

const derivedFaults = async (folder: string, { findings, files }: Derived, isSameVersion: boolean) => {
  const faults: PackFault[] = [];
  const all = findings.controls.map(({ id }) => id);
  for (const [file, text] of files) {
    const bytes = await bytesIn(join(folder, file), TEXT_BYTES_MAX);
    if (bytes?.equals(Buffer.from(text))) continue;
    const differing = file === FINDINGS_FILE && bytes !== null ? differingControls(bytes, findings.controls) : all;
    if (!isSameVersion && file === REPORT_FILE) continue;
    if (!isSameVersion && file === FINDINGS_FILE && bytes !== null && hasSameFacts(bytes, findings)) continue;
    const held = file === FINDINGS_FILE && bytes !== null ? falselyHeld(bytes, findings.controls) : null;
    const why = held ?? `it is not what ${EXPORT_FILE} and ${CONTROL_FILE} lead to`;
    faults.push({ file, why, controls: differing.length === 0 ? all : differing });
  }
  return faults;
};

/** `findings` is null if the queries could not be asked. */
type AskedAgain = {
  readonly faults: readonly PackFault[];
  readonly unchecked: readonly string[];
  readonly findings: Findings | null;
};

const NOT_ASKED: AskedAgain = { faults: [], unchecked: [], findings: null };

const notAsked = (fault: PackFault): AskedAgain => ({ ...NOT_ASKED, faults: [fault] });

/** What another version has written in words of its own, which cannot be made anew here. */
const otherWords = async (folder: string, madeBy: string, version: string, findings: Findings) => {
  const made = `it was made by version ${madeBy} and this is ${version}`;
  const bytes = await bytesIn(join(folder, FINDINGS_FILE), TEXT_BYTES_MAX);
  const report = `a check of ${REPORT_FILE}, so do not rely on it: ${made}`;
  if (bytes !== null && hasSameLimits(bytes, findings))
    return [`${report}; read ${FINDINGS_FILE}, which was checked as a whole`];
  const limits = `a check of the list not_evidenced at the end of ${FINDINGS_FILE}, so do not rely on it: ${made}`;
  return [`${report}; read ${FINDINGS_FILE}, of which all was checked but the list not_evidenced at its end`, limits];
};

const manifestFault = (
  { account, files }: Pick<Manifest, "account" | "files">,
  findings: Findings,
): Pick<PackFault, "file" | "why"> | null => {
  if (findings.account !== account) return { file: MANIFEST_FILE, why: "it names another account than the export" };
  const wrong = files.find(({ name, controls }) => controls.join() !== controlsUsing(name, findings).join());
  if (wrong === undefined) return null;
  return { file: MANIFEST_FILE, why: `it names other controls than those that use ${wrong.name}` };
};

const asked = async (
  { folder, version, onRecord }: PackToCheck,
  { account, period, madeAt, madeBy, files }: Manifest,
  all: readonly string[],
): Promise<AskedAgain> => {
  const controlFile = controlFileOf(await bytesIn(join(folder, CONTROL_FILE), CONTROL_FILE_BYTES_MAX));
  if (typeof controlFile === "string") return notAsked({ file: CONTROL_FILE, why: controlFile, controls: all });
  try {
    const terms = { controlFile, period, madeAt, madeBy, ...(onRecord === undefined ? {} : { onRecord }) };
    const derived = await derive(() => bytesOf(join(folder, EXPORT_FILE)), terms);
    const faults = await derivedFaults(folder, derived, version === madeBy);
    const { findings } = derived;
    const wrong = manifestFault({ account, files }, findings);
    const unchecked = version === madeBy ? [] : await otherWords(folder, madeBy, version, findings);
    return { faults: wrong === null ? faults : [{ ...wrong, controls: all }, ...faults], unchecked, findings };
  } catch (error) {
    if (!(error instanceof BadExport)) throw error;
    return notAsked({ file: EXPORT_FILE, why: error.message, controls: all });
  }
};

/** Once for each reason, with all claims that stay open for it. */
const openClaims = (findings: Findings | null): readonly string[] => {
  const byReason = new Map<string, string[]>();
  for (const { id, claims } of findings?.controls ?? []) {
    for (const { id: claim, open } of claims) {
      if (open === null) continue;
      const known = byReason.get(open);
      if (known === undefined) byReason.set(open, [`${claim} of ${id}`]);
      else known.push(`${claim} of ${id}`);
    }
  }
  return [...byReason].map(
    ([why, claims]) => `Answered for the records in the export alone, because ${why}: ${claims.join(", ")}`,
  );
};

/** All controls that the pack's control file has, where the manifest cannot say which use a file. */
const allControls = async (folder: string): Promise<readonly string[]> => {
  const controlFile = controlFileOf(await bytesIn(join(folder, CONTROL_FILE), CONTROL_FILE_BYTES_MAX));
  return typeof controlFile === "string" ? [] : controlFile.controls.map(({ id }) => id);
};

/**
 * Compares each file with the manifest, asks all queries again and makes all files anew that follow from the export.
 * Whether the export itself is authentic, the verifier says: without it, this says nothing about its records.
 */
export const checkPack = async (pack: PackToCheck): Promise<PackVerdict> => {
  const { folder, packKey } = pack;
  const bytes = await bytesIn(join(folder, MANIFEST_FILE), MANIFEST_BYTES_MAX);
  const read = bytes === null ? null : await readManifest(bytes, packKey);
  if (read?.ok !== true) {
    const fault = {
      file: MANIFEST_FILE,
      why: read?.why ?? "it is missing, or too large",
      controls: await allControls(folder),
    };
    return {
      faults: [fault],
      open: [],
      unchecked: ["a check of all other files but the export, because their list cannot be read"],
      manifest: null,
      isVouchedFor: false,
    };
  }
  const { manifest, isVouchedFor } = read;
  const listed = await listFaults(folder, manifest);
  const all = await allControls(folder);
  const isGiven = ({ file }: PackFault): boolean => file === EXPORT_FILE || file === CONTROL_FILE;
  const again: AskedAgain = listed.some(isGiven) ? NOT_ASKED : await asked(pack, manifest, all);
  // One fault of a file says enough.
  const known = new Set(listed.map(({ file }) => file));
  const unchecked = [
    ...(listed.some(isGiven)
      ? [`the answers to the queries, because ${EXPORT_FILE} or ${CONTROL_FILE} was changed`]
      : []),
    ...again.unchecked,
  ];
  const faults = [...listed, ...again.faults.filter(({ file }) => !known.has(file))];
  return { faults, unchecked, open: openClaims(again.findings), manifest, isVouchedFor };
};
