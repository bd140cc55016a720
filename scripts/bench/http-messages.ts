export type HttpMessage = { readonly head: string; readonly body: Buffer; readonly firstByteAt: number };

const HEAD_END = Buffer.from("\r\n\r\n");
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/**
 * Splits a connection's bytes into messages with a Content-Length (RFC 9112, section 6.2). A full HTTP parser would
 * cost several times as much processor time, which the measured service would then lack.
 */
export const httpMessages = (
  now: () => number,
  onMessage: (message: HttpMessage) => void,
): ((chunk: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0);
  let firstByteAt = 0;

  const take = (bytes: Buffer): number | null => {
    const headEnd = bytes.indexOf(HEAD_END);
    if (headEnd === -1) return null;
    const head = bytes.toString("latin1", 0, headEnd);
    const length = LENGTH.exec(head)?.[1];
    if (length === undefined) throw new Error(`a message without a length: ${head.split("\r\n", 1)[0]}`);
    const bodyAt = headEnd + HEAD_END.length;
    const end = bodyAt + Number(length);
    if (bytes.length < end) return null;
    onMessage({ head, body: bytes.subarray(bodyAt, end), firstByteAt });
    return end;
  };

  return (chunk) => {
    if (rest.length === 0) firstByteAt = now();
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = take(bytes); end !== null; end = bytes.length === 0 ? null : take(bytes)) {
      bytes = bytes.subarray(end);
      firstByteAt = now();
    }
    rest = bytes;
  };
};
