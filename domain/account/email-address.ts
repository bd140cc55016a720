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

/** The one spelling of an address, or null when it is none. The local part is lower-cased as well: no provider that
 * people use tells `Ana@` from `ana@`, and two accounts that differ in nothing else are somebody's mistake. */
export const normalizeEmail = (raw: string): string | null => {
  if (raw.length > 2 * EMAIL_LENGTH_MAX) return null;
  const email = raw.trim().toLowerCase().normalize("NFC");
  if (email.length > EMAIL_LENGTH_MAX || FORBIDDEN.test(email)) return null;
  const [local = "", domain = "", ...more] = email.split("@");
  if (more.length > 0 || local === "" || local.length > LOCAL_LENGTH_MAX) return null;
  return domain.split(".").every(isLabel) ? email : null;
};
