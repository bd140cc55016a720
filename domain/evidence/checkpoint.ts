import { fromBase64, toBase64 } from "./bytes.ts";
import { HASH_BYTES, type TreeHead } from "./merkle.ts";
import { isKeyName } from "./signed-note.ts";

/** C2SP tlog-checkpoint v1.0.0. Countersign writes no extension lines; a witness meets those of other logs. */
export type Checkpoint = TreeHead & { readonly origin: string; readonly extensions: readonly string[] };

const SIZE = /^(?:0|[1-9][0-9]*)$/;

/** Null unless the text is a number in decimal without leading zeros that a program can count to. */
export const parseSize = (text: string): number | null =>
  SIZE.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null;

/** The text that is signed; as a leaf of the instance tree it stands without signatures. */
export const checkpointText = (origin: string, { size, root }: TreeHead): string =>
  `${origin}\n${size}\n${toBase64(root)}\n`;

/** Null if the text of a note is not that of a checkpoint. */
export const parseCheckpoint = (text: string): Checkpoint | null => {
  const [origin, sizeText, rootText, ...extensions] = text.split("\n");
  // The text ends with a newline, so nothing follows the last one.
  if (extensions.pop() !== "" || extensions.includes("")) return null;
  const size = parseSize(sizeText ?? "");
  const root = fromBase64(rootText ?? "");
  if (origin === undefined || origin === "" || size === null || root?.length !== HASH_BYTES) return null;
  return { origin, size, root, extensions };
};

/** `host` is that of PUBLIC_URL at the first seal. Generations count from 1; each restore that was meant begins one. */
export type LogName = { readonly host: string; readonly generation: number };

export const FIRST_GENERATION = 1;

const rootName = ({ host, generation }: LogName): string =>
  generation === FIRST_GENERATION ? host : `${host}/${generation}`;

export const accountOrigin = (log: LogName, account: string): string => `${rootName(log)}/accounts/${account}`;

export const instanceOrigin = (log: LogName): string => `${rootName(log)}/instance`;

/** The signing key has this name in every generation. */
export const signingKeyName = (host: string): string => `${host}/instance`;

const ORIGIN = /^([^/]+)(?:\/([1-9][0-9]*))?\/(?:instance|accounts\/([^/]+))$/;

/** Null if the origin is not one of Countersign's; `account` is null for the instance. */
export const parseOrigin = (origin: string): (LogName & { readonly account: string | null }) | null => {
  const [, host, number, account] = ORIGIN.exec(origin) ?? [];
  if (host === undefined || !isKeyName(origin)) return null;
  const generation = number === undefined ? FIRST_GENERATION : Number(number);
  // The first generation is never written, so that an origin has one form.
  if (number !== undefined && (generation <= FIRST_GENERATION || !Number.isSafeInteger(generation))) return null;
  return { host, generation, account: account ?? null };
};
