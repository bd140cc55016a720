/** Characters; a longer header is dropped, as each record of the event repeats both and nobody is charged for them. */
const TYPE_MAX = 1_024;
const CODINGS_MAX = 255;

/**
 * Tokens separated by commas (RFC 9110, section 8.4); another text is dropped, as it does not say how to decode a body.
 */
const CODINGS = /^[\w!#$%&'*+.^`|~-]+(?:[\t ]*,[\t ]*[\w!#$%&'*+.^`|~-]+)*$/;

export const contentTypeOf = (header = ""): string => (header.length <= TYPE_MAX ? header : "");

export const contentEncodingOf = (header: string | undefined): string =>
  header !== undefined && header.length <= CODINGS_MAX && CODINGS.test(header) ? header : "";
