/** RFC 5321 (section 4.5.3.1.3) allows an address of 256 octets, two of which are its angle brackets. */
export const EMAIL_LENGTH_MAX = 254;
const LOCAL_LENGTH_MAX = 64;
const LABEL_LENGTH_MAX = 63;

/** An address must not hold white space, control characters, or characters that quote or separate addresses. */
const FORBIDDEN = /[\s\p{C}\p{Z}"(),:;<>[\\\]]/u;
const LABEL = /^[\p{L}\p{M}\p{N}-]+$/u;

const isLabel = (label: string): boolean =>
  label.length <= LABEL_LENGTH_MAX && LABEL.test(label) && !label.startsWith("-") && !label.endsWith("-");

/** `URL` turns a domain that ends in a number into an IPv4 address (WHATWG URL, host parsing); it is refused. */
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;

/** `URL` maps `bücher.example` to `xn--bcher-kva.example` (UTS #46), so both are one domain. Null: it is invalid. */
const asciiDomain = (domain: string): string | null => {
  const address = `http://${domain}/`;
  const ascii = URL.canParse(address) ? new URL(address).hostname : "";
  return ascii.split(".").every(isLabel) && !IPV4.test(ascii) ? ascii : null;
};

/**
 * Null if the text is not an e-mail address. The part before the @ becomes lower case too: `Ann@` and `ann@` are one
 * person, who must not get two accounts.
 */
export const normalizeEmail = (raw: string): string | null => {
  if (raw.length > 2 * EMAIL_LENGTH_MAX) return null;
  const email = raw.trim().toLowerCase().normalize("NFC");
  if (email.length > EMAIL_LENGTH_MAX || FORBIDDEN.test(email)) return null;
  const [local = "", domain = "", ...more] = email.split("@");
  if (more.length > 0 || local === "" || local.length > LOCAL_LENGTH_MAX) return null;
  // `URL` would accept a path, a port or an escape after the domain, so the domain's labels are checked beforehand.
  if (!domain.split(".").every(isLabel)) return null;
  const ascii = asciiDomain(domain);
  const normalized = `${local}@${ascii}`;
  return ascii === null || normalized.length > EMAIL_LENGTH_MAX ? null : normalized;
};
