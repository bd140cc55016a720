import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

export type FileDigest = { readonly size: number; readonly sha256: string };

const CHUNK_BYTES = 256 * 1_024;

export const bytesOf = (path: string): AsyncIterable<Uint8Array> =>
  createReadStream(path, { highWaterMark: CHUNK_BYTES });

export const digestOf = async (path: string): Promise<FileDigest> => {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of bytesOf(path)) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, sha256: hash.digest("hex") };
};
