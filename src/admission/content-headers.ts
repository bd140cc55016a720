/**
 * Characters. Both headers are copied into each record of the event, refused or not, without being counted with its body.
 * Senders write below 200.
 */
const TYPE_MAX = 1_024;
const CODINGS_MAX = 255;

/** Tokens separated by commas (RFC 9110, section 8.4): anything else does not say how to decode a body. */
const CODINGS = /^[\w!#$%&'*+.^`|~-]+(?:[\t ]*,[\t ]*[\w!#$%&'*+.^`|~-]+)*$/;

/** A `Content-Type` worth recording; empty for none. */
export const contentTypeOf = (header = ""): string => (header.length <= TYPE_MAX ? header : "");

/** A `Content-Encoding` worth recording; empty for none. */
export const contentEncodingOf = (header: string | undefined): string =>
  header !== undefined && header.length <= CODINGS_MAX && CODINGS.test(header) ? header : "";
