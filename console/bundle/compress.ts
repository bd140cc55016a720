import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const TEXT = /\.(js|css|html|txt|svg)$/;

/** Writes `.br` and `.gz` beside each text file, where they are smaller; fonts are compressed already. */
export const compressFolder = (folder: string): void => {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!TEXT.test(name)) continue;
    const body = readFileSync(join(folder, name));
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
    for (const [ending, compressed] of [
      ["br", brotliCompressSync(body, { params })],
      ["gz", gzipSync(body, { level: 9 })],
    ] as const)
      if (compressed.length < body.length) writeFileSync(join(folder, `${name}.${ending}`), compressed);
  }
};
