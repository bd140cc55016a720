export type Keys = Readonly<Record<string, () => void>>;

/** `first` is the key before, if it was pressed just now: pairs are written "g e". */
export const bindingOf = (all: readonly Keys[], first: string, key: string): (() => void) | null => {
  const layersFromTop = [...all].reverse();
  // A pair comes first, wherever it is known: after g, no page takes the second key for its own.
  const named = [`${first} ${key}`, key].map((name) => layersFromTop.find((keys) => keys[name] !== undefined)?.[name]);
  return named.find((it) => it !== undefined) ?? null;
};
