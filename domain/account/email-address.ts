/** The longest mailbox of RFC 5321 (section 4.5.3.1.3), without its angle brackets. */
export const EMAIL_LENGTH_MAX = 254;
const LOCAL_LENGTH_MAX = 64;
const LABEL_LENGTH_MAX = 63;

/** White space, control characters and the characters of quoted or listed addresses. */
const FORBIDDEN = /[\s\p{C}\p{Z}"(),:;<>[\\\]]/u;
const LABEL = /^[\p{L}\p{M}\p{N}-]+$/u;

const isLabel = (label: string): boolean =>
  label.length <= LABEL_LENGTH_MAX && LABEL.test(label) && !label.startsWith("-") && !label.endsWith("-");

/** `URL` reads a name that ends in a number as an IPv4 address (WHATWG URL, host parsing). */
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;

/** `bücher.example` and `xn--bcher-kva.example` are one domain: `URL` maps names to A-labels (UTS #46, RFC 5890). */
const asciiDomain = (domain: string): string | null => {
  const address = `http://${domain}/`;
  const ascii = URL.canParse(address) ? new URL(address).hostname : "";
  return ascii.split(".").every(isLabel) && !IPV4.test(ascii) ? ascii : null;
};

/**
 * Null if the text is not an address. Lower case also for the local part, as two accounts that differ in it are a
 * mistake.
 */
export const normalizeEmail = (raw: string): string | null => {
  if (raw.length > 2 * EMAIL_LENGTH_MAX) return null;
  const email = raw.trim().toLowerCase().normalize("NFC");
  if (email.length > EMAIL_LENGTH_MAX || FORBIDDEN.test(email)) return null;
  const [local = "", domain = "", ...more] = email.split("@");
  if (more.length > 0 || local === "" || local.length > LOCAL_LENGTH_MAX) return null;
  // `URL` would accept a path, a port or an escape, so the labels are checked first.
  if (!domain.split(".").every(isLabel)) return null;
  const ascii = asciiDomain(domain);
  const normalized = `${local}@${ascii}`;
  return ascii === null || normalized.length > EMAIL_LENGTH_MAX ? null : normalized;
};
