/** NIST SP 800-63B (5.1.1.2) asks for at least 8 characters and advises against rules about kinds of characters. */
const PASSWORD_LENGTH_MIN = 10;
/** The time of hashing a password grows with its length, so the length is limited. */
export const PASSWORD_LENGTH_MAX = 1024;
/** A password needs this many different characters: "ababababab" is long, but easy to guess. */
const DIFFERENT_MIN = 5;

/** These are stems of the commonest leaked passwords: digits and punctuation around them do not make them rare. */
const COMMON_WORDS =
  "password passwort passw0rd p@ssword p@ssw0rd contrasena motdepasse senha parola qwerty qwertz azerty qwertyuiop " +
  "qwertzuiop azertyuiop asdfgh asdfghjkl zxcvbn zxcvbnm qazwsx qazwsxedc 1qaz2wsx 1qaz2wsx3edc 1q2w3e 1q2w3e4r 1q2w3e4r5t " +
  "q1w2e3r4 q1w2e3r4t5 abc abcd abcdef abc123 welcome welcome1 letmein admin administrator root toor test tester " +
  "testing guest user login master hello hellohello changeme default secret iloveyou ilovegod princess sunshine " +
  "monkey dragon shadow superman batman pokemon starwars football baseball basketball soccer liverpool chelsea " +
  "arsenal michael jordan jessica ashley jennifer daniel charlie andrew thomas robert freedom whatever trustno1 " +
  "mustang corvette ferrari mercedes computer internet samsung google facebook linkedin summer winter spring autumn " +
  "january february march april may june july august september october november december monday friday flower " +
  "cookie cheese chocolate ginger maggie buster hunter killer pepper tigger donald london america canada deutschland " +
  "passwordpassword qwertyqwerty adminadmin testtest correcthorsebatterystaple countersign webhook webhooks";

/** Keyboards produce different code points for one character; NFC unites them, so any keyboard will do. */
export const normalizePassword = (password: string): string => password.normalize("NFC");

const stemOf = (text: string): string => text.replace(/^[^\p{L}]+/u, "").replace(/[^\p{L}]+$/u, "");

const COMMON = new Set(COMMON_WORDS.split(" ").flatMap((word) => [word, stemOf(word)]));

const isRun = (points: readonly number[]): boolean => {
  const step = (points[1] ?? 0) - (points[0] ?? 0);
  return Math.abs(step) <= 1 && points.every((point, i) => i === 0 || point - (points[i - 1] ?? 0) === step);
};

/** A password of ten to fifteen digits is a date, a telephone number or "1234567890", so it is refused. */
const COUNTABLE_LENGTH_MAX = 15;
const isCountable = (text: string): boolean => text.length <= COUNTABLE_LENGTH_MAX && /^[0-9]+$/.test(text);

/** Null if the password is acceptable, else a sentence that says what to change. `email` is normalised. */
export const weaknessOf = (password: string, email: string): string | null => {
  const points = Array.from(password, (character) => character.codePointAt(0) ?? 0);
  if (/\p{Cs}/u.test(password)) return "The password holds characters that are not Unicode text.";
  if (points.length < PASSWORD_LENGTH_MIN) return `Use at least ${PASSWORD_LENGTH_MIN} characters.`;
  if (points.length > PASSWORD_LENGTH_MAX) return `Use at most ${PASSWORD_LENGTH_MAX} characters.`;
  if (new Set(points).size < DIFFERENT_MIN) return `Use at least ${DIFFERENT_MIN} different characters.`;
  if (isRun(points)) return "Use something other than characters in a row.";
  const lowered = password.toLowerCase();
  const stem = stemOf(lowered);
  const [local = ""] = email.split("@");
  if (lowered === email || lowered === local || (stem !== "" && stem === stemOf(local)))
    return "Use a password that does not repeat the e-mail address.";
  if (COMMON.has(stem) || COMMON.has(lowered) || isCountable(lowered))
    return "This is among the commonest passwords. Use several words, or one made by a password manager.";
  return null;
};
