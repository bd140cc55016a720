/** So many are named; of more it is said how many there are. */
const NAMED_MAX = 3;

/** "Only an admin can do this: ben, dev and 2 others." Without names, the sentence alone. Pure. */
export const namedSentence = (sentence: string, names: readonly string[]): string => {
  if (names.length === 0) return `${sentence}.`;
  const left = names.length - NAMED_MAX;
  // One more name is as short as "1 other".
  const shown = left > 1 ? [...names.slice(0, NAMED_MAX), `${left} others`] : names;
  return `${sentence}: ${new Intl.ListFormat("en-GB").format(shown)}.`;
};
