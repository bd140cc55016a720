/** What the service says of a value, as a sentence that stands at the value's field. Pure. */

const IN_OTHER_WORDS: readonly (readonly [RegExp, string])[] = [
  [/^must be a text of 1 to (\d+) characters$/, "Write 1 to $1 characters."],
  [/^must be a CEL expression$/, "Write a condition, such as payload.amount > 100.0."],
  [/^(?:is required|must not be (?:empty|blank))$/, "This field is empty, and it is needed."],
];

/** The service names the value before these; a field has its name above it. */
const WITHOUT_SUBJECT = /^(?:must|is|has|names|needs|refers|matches|cannot)\b/;

export const faultSentence = (message: string): string => {
  for (const [from, to] of IN_OTHER_WORDS) if (from.test(message)) return message.replace(from, to);
  const whole = WITHOUT_SUBJECT.test(message) ? `This ${message}` : message.charAt(0).toUpperCase() + message.slice(1);
  return /[.?!]$/.test(whole) ? whole : `${whole}.`;
};
