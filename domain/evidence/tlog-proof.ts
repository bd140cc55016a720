import { fromBase64, toBase64 } from "./bytes.ts";
import { parseSize } from "./checkpoint.ts";
import { HASH_BYTES } from "./merkle.ts";

/** C2SP tlog-proof v1. `checkpoint` is the signed note as it was served; `extra` is authenticated by nothing. */
export type TlogProof = {
  readonly extra: Uint8Array | null;
  readonly index: number;
  readonly path: readonly Uint8Array[];
  readonly checkpoint: string;
};

const FIRST_LINE = "c2sp.org/tlog-proof@v1";
const EXTRA = "extra ";
const INDEX = "index ";
/** No tree that a program can count has a longer path. */
const PATH_MAX = 64;

export const formatTlogProof = ({ extra, index, path, checkpoint }: TlogProof): string =>
  [
    FIRST_LINE,
    ...(extra === null ? [] : [EXTRA + toBase64(extra)]),
    `${INDEX}${index}`,
    ...path.map(toBase64),
    "",
    checkpoint,
  ].join("\n");

/** Null if the text is not a proof. Whether the checkpoint is a signed note, `parseNote` says. */
export const parseTlogProof = (text: string): TlogProof | null => {
  const blank = text.indexOf("\n\n");
  if (blank === -1) return null;
  const [first, ...lines] = text.slice(0, blank).split("\n");
  const extra = lines[0]?.startsWith(EXTRA) ? fromBase64(lines[0].slice(EXTRA.length)) : undefined;
  if (extra !== undefined) lines.shift();
  const [indexLine, ...encoded] = lines;
  const index = indexLine?.startsWith(INDEX) ? parseSize(indexLine.slice(INDEX.length)) : null;
  if (first !== FIRST_LINE || extra === null || index === null || encoded.length > PATH_MAX) return null;
  const path: Uint8Array[] = [];
  for (const line of encoded) {
    const hash = fromBase64(line);
    if (hash?.length !== HASH_BYTES) return null;
    path.push(hash);
  }
  return { extra: extra ?? null, index, path, checkpoint: text.slice(blank + 2) };
};
