import type {
  CheckpointLine,
  CosignedLine,
  ExportLine,
  HandoverLine,
  HeaderLine,
  MapLine,
  ProofLine,
} from "../../domain/evidence/export-lines.ts";
import { parseLine, readLines, type Source } from "./lines.ts";
import { looksLikeRecord } from "./record-scan.ts";
import { type Fault, fault } from "./report.ts";

/** All lines of an export but its records and payloads. */
export type Outline = {
  readonly header: HeaderLine;
  readonly proofs: readonly ProofLine[];
  readonly map: MapLine | null;
  readonly handovers: readonly HandoverLine[];
  readonly cosigned: readonly CosignedLine[];
  readonly checkpoint: CheckpointLine;
};

type Parts = {
  header: HeaderLine | null;
  proofs: ProofLine[];
  map: MapLine | null;
  handovers: HandoverLine[];
  cosigned: CosignedLine[];
  checkpoint: CheckpointLine | null;
};

/** Null if the line may stand where it does. */
const misplaced = (parts: Parts, line: ExportLine): string | null => {
  if ((parts.header === null) !== (line.kind === "header")) return "an export begins with one header";
  if (parts.checkpoint !== null) return "nothing may follow the checkpoint";
  if (line.kind === "map" && parts.map !== null) return "there are two lines of the key map";
  return null;
};

const addTo = (parts: Parts, line: ExportLine): void => {
  if (line.kind === "header") parts.header = line;
  else if (line.kind === "proof") parts.proofs.push(line);
  else if (line.kind === "map") parts.map = line;
  else if (line.kind === "handover") parts.handovers.push(line);
  else if (line.kind === "cosigned") parts.cosigned.push(line);
  else if (line.kind === "checkpoint") parts.checkpoint = line;
};

/** Reads what has to be known before the records can be checked. `missing` says what a file that was cut off lacks. */
export const readOutline = async (
  source: Source,
): Promise<{ readonly fault: Fault } | { readonly missing: string } | Outline> => {
  const parts: Parts = { header: null, proofs: [], map: null, handovers: [], cosigned: [], checkpoint: null };
  let number = 0;
  let wrong: Fault | null = null;
  const ended = await readLines(source, (bytes) => {
    number += 1;
    if (looksLikeRecord(bytes) && parts.header !== null && parts.checkpoint === null) return null;
    const line = parseLine(bytes);
    const reason = line === null ? "it is no line of an export" : misplaced(parts, line);
    if (reason !== null || line === null) {
      wrong = fault(`line ${number}: ${reason}`);
      return "stopped";
    }
    addTo(parts, line);
    return null;
  });
  if (wrong !== null) return { fault: wrong };
  if (ended !== null) return { missing: ended };
  const { header, checkpoint } = parts;
  if (header === null) return { fault: fault("the file is empty") };
  if (checkpoint === null) return { missing: "the end of the file, with its checkpoint and proofs" };
  return { ...parts, header, checkpoint };
};
