/** Edits from one text to the other, where two letters that changed places are one edit (optimal string alignment). */
const distance = (one: string, other: string): number => {
  const [letters, wanteds] = [[...one.toLowerCase()], [...other.toLowerCase()]];
  let before: readonly number[] = [];
  let row = Array.from({ length: wanteds.length + 1 }, (_, at) => at);
  for (const [i, letter] of letters.entries()) {
    const next = [i + 1];
    for (const [j, wanted] of wanteds.entries()) {
      const replaced = (row[j] ?? 0) + (letter === wanted ? 0 : 1);
      const isSwapped = i > 0 && j > 0 && letter === wanteds[j - 1] && letters[i - 1] === wanted;
      const swapped = isSwapped ? (before[j - 1] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
};

/** Longer texts are no mistyped names, and comparing them would take long. */
const LENGTH_MAX = 100;

/** The known name that was most likely meant; null if none is near. */
export const nearest = (given: string, known: readonly string[]): string | null => {
  if (given.length > LENGTH_MAX) return null;
  let best: { readonly name: string; readonly edits: number } | null = null;
  for (const name of known) {
    const editsMax = Math.max(1, Math.floor(name.length / 3));
    // Texts whose lengths differ by more need more edits, and counting these takes long.
    if (Math.abs(given.length - name.length) > editsMax) continue;
    const edits = distance(given, name);
    if (edits <= editsMax && edits < (best?.edits ?? Number.POSITIVE_INFINITY)) best = { name, edits };
  }
  return best?.name ?? null;
};

/** A sentence that begins with a blank; empty if no known name is near. */
export const didYouMean = (given: string, known: readonly string[]): string => {
  const name = nearest(given, known);
  return name === null ? "" : ` Did you mean "${name}"?`;
};
