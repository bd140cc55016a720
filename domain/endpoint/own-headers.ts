/** A header name is a token (RFC 9110, section 5.6.2). */
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
/** All receivers read a value of visible ASCII with blanks inside alike (RFC 9110, section 5.5). */
const VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

export const HEADERS_MAX = 20;
export const HEADER_NAME_LENGTH_MAX = 64;
export const HEADER_VALUE_LENGTH_MAX = 4_096;
/** Many servers, including this one, refuse more than 8 KiB of headers. */
export const HEADERS_LENGTH_MAX = 6_144;

const RESERVED: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "content-type",
  "content-encoding",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "upgrade",
  "expect",
  "http2-settings",
  "user-agent",
  "traceparent",
  "tracestate",
  "content-digest",
  "signature",
  "signature-input",
]);
const RESERVED_PREFIX = /^(webhook|countersign|proxy)-/;

/** Null if the header is valid, else the end of a sentence that begins with the header's name. */
export const headerFault = (name: string, value: string): string | null => {
  const lower = name.toLowerCase();
  if (lower.length > HEADER_NAME_LENGTH_MAX || !NAME.test(lower)) return "is not a header name";
  // CGI and WSGI receivers read every other character as a dash (RFC 3875, section 4.1.18), so no spelling may imitate
  // a signed header.
  const dashed = lower.replace(/[^a-z0-9]/g, "-");
  if (RESERVED.has(dashed) || RESERVED_PREFIX.test(dashed)) return "is set by the delivery itself";
  if (value.length > HEADER_VALUE_LENGTH_MAX) return `has a value of more than ${HEADER_VALUE_LENGTH_MAX} characters`;
  if (!VALUE.test(value)) return "must have a value of visible ASCII characters, without a blank at either end";
  return null;
};

export const headersFault = (headers: ReadonlyMap<string, string>): string | null => {
  if (headers.size > HEADERS_MAX) return `must be ${HEADERS_MAX} at most`;
  let length = 0;
  for (const [name, value] of headers) length += name.length + value.length;
  return length > HEADERS_LENGTH_MAX ? `must have ${HEADERS_LENGTH_MAX} characters at most together` : null;
};
