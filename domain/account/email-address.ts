/** The longest that a mailbox can have in SMTP (RFC 5321, 4.5.3.1.3, less the angle brackets). */
export const EMAIL_LENGTH_MAX = 254;
const LOCAL_LENGTH_MAX = 64;
const LABEL_LENGTH_MAX = 63;

/** White space, control, format and unpaired surrogate characters, and what only stands in quoted or listed addresses.
 * One class without repetition: linear in the input. */
const FORBIDDEN = /[\s\p{C}\p{Z}"(),:;<>[\\\]]/u;
const LABEL = /^[\p{L}\p{M}\p{N}-]+$/u;

const isLabel = (label: string): boolean =>
  label.length <= LABEL_LENGTH_MAX && LABEL.test(label) && !label.startsWith("-") && !label.endsWith("-");

/** `URL` reads a name that ends in a number as an IPv4 address (WHATWG URL, host parsing). */
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;

/**
 * A domain as DNS has it: in ASCII, with the A-labels of RFC 5890 (`xn--…`), so that `bücher.example` and
 * `xn--bcher-kva.example` are one. `URL` is part of the language's platform, maps as UTS #46 says and checks A-labels.
 */
const asciiDomain = (domain: string): string | null => {
  const address = `http://${domain}/`;
  const ascii = URL.canParse(address) ? new URL(address).hostname : "";
  return ascii.split(".").every(isLabel) && !IPV4.test(ascii) ? ascii : null;
};

/** The one spelling of an address, or null when it is none. The local part is lower-cased as well: no provider that
 * people use tells `Ana@` from `ana@`, and two accounts that differ in nothing else are somebody's mistake. */
export const normalizeEmail = (raw: string): string | null => {
  if (raw.length > 2 * EMAIL_LENGTH_MAX) return null;
  const email = raw.trim().toLowerCase().normalize("NFC");
  if (email.length > EMAIL_LENGTH_MAX || FORBIDDEN.test(email)) return null;
  const [local = "", domain = "", ...more] = email.split("@");
  if (more.length > 0 || local === "" || local.length > LOCAL_LENGTH_MAX) return null;
  // Before `URL` reads it: that would take a path, a port or an escape for what they are.
  if (!domain.split(".").every(isLabel)) return null;
  const ascii = asciiDomain(domain);
  const normalized = `${local}@${ascii}`;
  return ascii === null || normalized.length > EMAIL_LENGTH_MAX ? null : normalized;
};
