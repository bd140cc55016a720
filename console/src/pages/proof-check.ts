import { textOf } from "../../../domain/evidence/bytes.ts";
import { parseCheckpoint } from "../../../domain/evidence/checkpoint.ts";
import { readLeaf } from "../../../domain/evidence/leaf.ts";
import { parseNote } from "../../../domain/evidence/signed-note.ts";
import { verifyExport } from "../../../src/verifier/export.ts";
import { platformHere } from "../../../src/verifier/platform.ts";
import type { ConsistencyProof } from "../../../src/verifier/previous.ts";
import type { Report } from "../../../src/verifier/report.ts";

export type Outside = {
  /** Verifier keys that the auditor has from outside this page, one a line. */
  readonly keys: readonly string[];
  readonly witnesses: readonly string[];
  /** A checkpoint that the auditor kept; empty if there is none. */
  readonly kept: string;
};

export type Checked = {
  readonly report: Report;
  /** What was proved: the leaf as text, so that nothing is shown that the proof is not about. Null if there is none. */
  readonly leaf: string | null;
};

/** What the check asks the service for. */
export type Service = {
  /** The export of this one record, as NDJSON. */
  readonly exported: (index: number) => Promise<string>;
  readonly consistency: (from: number, to: number) => Promise<ConsistencyProof>;
};

type Line = { readonly kind?: unknown; readonly leaf?: unknown; readonly text?: unknown };

/** The lines of a kind; a line that is no JSON is the verifier's to refuse. */
const linesOf = (text: string, kind: string): readonly Line[] =>
  text.split("\n").flatMap((line) => {
    try {
      const parsed = JSON.parse(line) as Line | null;
      return parsed?.kind === kind ? [parsed] : [];
    } catch {
      return [];
    }
  });

const sizeIn = (note: unknown): number | null =>
  typeof note === "string" ? (parseCheckpoint(parseNote(note)?.text ?? "")?.size ?? null) : null;

/** The leaf of the one record of the export, if it is a leaf. */
const leafIn = (text: string): string | null => {
  const [record] = linesOf(text, "record");
  if (typeof record?.leaf !== "string") return null;
  const bytes = platformHere().fromBase64(record.leaf);
  return bytes === null || typeof readLeaf(bytes) === "string" ? null : textOf(bytes);
};

/** A proof that the tree has only grown since the kept checkpoint; null if none is needed, or can be asked for. */
const consistencyOf = async (service: Service, text: string, kept: string): Promise<ConsistencyProof | null> => {
  const from = sizeIn(kept);
  const to = sizeIn(linesOf(text, "checkpoint")[0]?.text);
  return from === null || to === null || from > to ? null : service.consistency(from, to);
};

/** Fetches one record with its proof, and checks both here. */
export const checkRecord = async (service: Service, index: number, outside: Outside): Promise<Checked> => {
  const { keys, witnesses, kept } = outside;
  const text = await service.exported(index);
  const options = {
    keys,
    witnesses,
    previous: kept === "" ? [] : [kept],
    consistency: kept === "" ? null : await consistencyOf(service, text, kept),
  };
  const bytes = new TextEncoder().encode(text);
  const source = async function* () {
    yield bytes;
  };
  const report = await verifyExport(source, options, platformHere());
  return { report, leaf: report.fault === null ? leafIn(text) : null };
};
