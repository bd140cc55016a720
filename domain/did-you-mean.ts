/** Edits from one text to the other (Levenshtein). */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (const [j, wanted] of [...other].entries()) {
      const replaced = (row[j] ?? 0) + (letter.toLowerCase() === wanted.toLowerCase() ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
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
