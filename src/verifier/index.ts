export { type VerifyOptions, verifyExport } from "./export.ts";
export { type InputFile, verifyFiles, wrongInput } from "./files.ts";
export type { Source } from "./lines.ts";
export { type Platform, platformHere } from "./platform.ts";
export type { ConsistencyProof } from "./previous.ts";
export { verifyCheckpoint, verifyProof } from "./proof.ts";
export type { Completeness, Erased, Fault, Report, SignedHead, TimeConflict, Verdict, WitnessTime } from "./report.ts";
export { VERDICTS } from "./report.ts";
export { inWords } from "./words.ts";
