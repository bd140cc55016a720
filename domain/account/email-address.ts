/** The longest mailbox in SMTP (RFC 5321, 4.5.3.1.3, less the angle brackets). */
export const EMAIL_LENGTH_MAX = 254;
const LOCAL_LENGTH_MAX = 64;
const LABEL_LENGTH_MAX = 63;

/**
 * White space, control, format and unpaired surrogate characters, and characters that occur only in quoted or listed
 * addresses. The class has no repetition, so matching is linear.
 */
const FORBIDDEN = /[\s\p{C}\p{Z}"(),:;<>[\\\]]/u;
const LABEL = /^[\p{L}\p{M}\p{N}-]+$/u;

const isLabel = (label: string): boolean =>
  label.length <= LABEL_LENGTH_MAX && LABEL.test(label) && !label.startsWith("-") && !label.endsWith("-");

/** `URL` reads a name that ends in a number as an IPv4 address (WHATWG URL, host parsing). */
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;

/**
 * A domain in ASCII, with the A-labels of RFC 5890 (`xn--…`), so that `bücher.example` and `xn--bcher-kva.example` are
 * one. `URL` maps as UTS #46 says and checks A-labels.
 */
const asciiDomain = (domain: string): string | null => {
  const address = `http://${domain}/`;
  const ascii = URL.canParse(address) ? new URL(address).hostname : "";
  return ascii.split(".").every(isLabel) && !IPV4.test(ascii) ? ascii : null;
};

/**
 * The normal form of an address, or null if it is not one. The local part is lower-cased too: no common provider
 * distinguishes `Ana@` from `ana@`, and two accounts that differ only in case are a mistake.
 */
export const normalizeEmail = (raw: string): string | null => {
  if (raw.length > 2 * EMAIL_LENGTH_MAX) return null;
  const email = raw.trim().toLowerCase().normalize("NFC");
  if (email.length > EMAIL_LENGTH_MAX || FORBIDDEN.test(email)) return null;
  const [local = "", domain = "", ...more] = email.split("@");
  if (more.length > 0 || local === "" || local.length > LOCAL_LENGTH_MAX) return null;
  // This check comes before `URL`, which would accept a path, a port or an escape.
  if (!domain.split(".").every(isLabel)) return null;
  const ascii = asciiDomain(domain);
  const normalized = `${local}@${ascii}`;
  return ascii === null || normalized.length > EMAIL_LENGTH_MAX ? null : normalized;
};
