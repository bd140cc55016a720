/** What the service sent, unchanged. All other files but the control file are computed from these two. */
export const EXPORT_FILE = "export.ndjson";
export const CONTROL_FILE = "framework.json";
export const FINDINGS_FILE = "controls.json";
export const PROOFS_FILE = "proofs.ndjson";
export const REPORT_FILE = "report.html";
export const CHECKPOINT_FILE = "checkpoint.txt";
export const KEY_FILE = "key.txt";
export const MANIFEST_FILE = "manifest.txt";

/** In the order in which the manifest lists them. */
export const PACK_FILES: readonly string[] = [
  EXPORT_FILE,
  CONTROL_FILE,
  FINDINGS_FILE,
  PROOFS_FILE,
  CHECKPOINT_FILE,
  KEY_FILE,
  REPORT_FILE,
];
