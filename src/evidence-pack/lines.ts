/** A payload of 1 MB is 1.4 MB of base64, and a leaf is far smaller. */
const LINE_BYTES_MAX = 8 * 1_024 * 1_024;

export class BadExport extends Error {
  override readonly name = "BadExport";
}

const NEWLINE = 0x0a;

/** The lines of a file that ends with a newline, without holding more than one of them and one chunk. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, at)]).toString();
      rest = [];
      size = 0;
      from = at + 1;
    }
    size += chunk.length - from;
    if (size > LINE_BYTES_MAX) throw new BadExport(`a line of the export is longer than ${LINE_BYTES_MAX} bytes`);
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
  if (size > 0) throw new BadExport("the export's last line is cut off");
}
