import { excerptOf } from "./excerpt.ts";
import { CHECKPOINT_FILE, FINDINGS_FILE, KEY_FILE, PROOFS_FILE, REPORT_FILE } from "./files.ts";
import { type Asked, type Findings, findingsOf, findingsText } from "./findings.ts";
import { reportHtml } from "./report/report.ts";

export type Derived = {
  readonly findings: Findings;
  /** The texts of all files that follow from the export and the control file, by name. */
  readonly files: ReadonlyMap<string, string>;
};

/**
 * Computes everything in a pack that is not given. Whoever makes a pack and whoever checks one call this with the same
 * arguments and get the same bytes. `open` reads the export from its beginning. Throws `BadExport`.
 */
export const derive = async (open: () => AsyncIterable<Uint8Array>, asked: Asked): Promise<Derived> => {
  const findings = await findingsOf(open(), asked);
  const files = new Map([
    [FINDINGS_FILE, findingsText(findings)],
    [PROOFS_FILE, await excerptOf(open(), findings)],
    [CHECKPOINT_FILE, findings.export.checkpoint],
    [KEY_FILE, `${findings.export.key}\n`],
    [REPORT_FILE, reportHtml(findings)],
  ]);
  return { findings, files };
};
