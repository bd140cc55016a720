import type { Json, JsonObject } from "../../domain/json.ts";
import { controlFileIn } from "../../src/evidence-pack/control-file.ts";
import { type ClaimFinding, findingsOf } from "../../src/evidence-pack/findings.ts";
import { AFTER_PERIOD, chunksOf, type ExportedRecord, exportLines, PERIOD } from "./evidence-export.ts";

export const controlFileWith = (...claims: readonly JsonObject[]): JsonObject => ({
  v: 1,
  id: "test",
  title: "Test",
  source: "Test",
  controls: [{ id: "T1", title: "Test", may_support: "Test", claims, not_evidenced: ["Anything else."] }],
  not_evidenced: ["Anything else."],
});

/** `isCut`: the export ends with the last of the given records, and not with one from after the period. */
export type Question = { readonly from?: number; readonly isCut?: boolean; readonly keysMax?: number };

/** The finding on one claim in an export of these records. */
export const ask = async (
  claim: JsonObject,
  records: readonly ExportedRecord[],
  { from = 0, isCut = false, keysMax }: Question = {},
): Promise<ClaimFinding> => {
  const asked = {
    controlFile: controlFileIn(controlFileWith(claim)),
    period: PERIOD,
    madeAt: "2026-02-02T00:00:00.000Z",
    madeBy: "1.0.0",
  };
  const found = await findingsOf(chunksOf(exportLines(isCut ? records : [...records, AFTER_PERIOD], from)), {
    ...asked,
    ...(keysMax ? { keysMax } : {}),
  });
  const finding = found.controls[0]?.claims[0];
  if (finding === undefined) throw new Error("there is no finding");
  return finding;
};

export const claimOf = (query: Json, expect?: JsonObject): JsonObject => ({
  id: "claim",
  statement: "A claim",
  query,
  ...(expect === undefined ? {} : { expect }),
});
