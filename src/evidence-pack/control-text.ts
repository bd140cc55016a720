import type { JsonObject } from "../../domain/json.ts";
import { strictJson } from "../streams/strict-json.ts";
import { type ControlFile, controlFileIn } from "./control-file.ts";
import { GENERIC } from "./frameworks/generic.ts";
import { SOC2 } from "./frameworks/soc2.ts";
import { BadControlFile } from "./query/reader.ts";

export const CONTROL_FILE_BYTES_MAX = 1_048_576;

/** The control files that come with the product, by the names that the command takes. */
const INCLUDED: Readonly<Record<string, JsonObject>> = { soc2: SOC2, generic: GENERIC };

export const FRAMEWORKS: readonly string[] = Object.keys(INCLUDED);

/** Null if none of this name comes with the product. */
export const includedControlText = (name: string): string | null => {
  const file = Object.hasOwn(INCLUDED, name) ? INCLUDED[name] : undefined;
  return file === undefined ? null : `${JSON.stringify(file, null, 1)}\n`;
};

/** Throws `BadControlFile`. */
export const readControlText = (bytes: Uint8Array): ControlFile => {
  if (bytes.length > CONTROL_FILE_BYTES_MAX) {
    throw new BadControlFile(`the file has ${bytes.length} bytes; at most ${CONTROL_FILE_BYTES_MAX} are allowed`);
  }
  const json = strictJson(bytes);
  if (!json.ok) throw new BadControlFile(`${json.message}${json.path === "" ? "" : ` (${json.path})`}`);
  return controlFileIn(json.value);
};
