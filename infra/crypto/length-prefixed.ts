const LENGTH_BYTES = 4;

/** Each part follows its length (32 bit, big-endian), so different lists have different bytes. */
export const lengthPrefixed = (parts: readonly string[]): Buffer => {
  let size = 0;
  for (const part of parts) size += LENGTH_BYTES + Buffer.byteLength(part);
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const part of parts) {
    const written = bytes.write(part, at + LENGTH_BYTES);
    bytes.writeUInt32BE(written, at);
    at += LENGTH_BYTES + written;
  }
  return bytes;
};
