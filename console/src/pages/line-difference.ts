/** How two texts differ, line by line. Pure. */

export type Line = { readonly kind: "same" | "add" | "del"; readonly text: string };

/** Cells of the table that is compared; of larger changes the whole middle counts as replaced. */
const CELLS_MAX = 4_000_000;

const commonStart = (a: readonly string[], b: readonly string[]): number => {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
};

const lines = (kind: Line["kind"], texts: readonly string[]): readonly Line[] => texts.map((text) => ({ kind, text }));

/** The longest common subsequence decides which lines stay. */
const middle = (a: readonly string[], b: readonly string[]): readonly Line[] => {
  if (a.length * b.length > CELLS_MAX) return [...lines("del", a), ...lines("add", b)];
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  const cell = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      longest[i * width + j] = a[i] === b[j] ? cell(i + 1, j + 1) + 1 : Math.max(cell(i + 1, j), cell(i, j + 1));
  const found: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      found.push({ kind: "same", text: left });
      i += 1;
      j += 1;
    } else if (left !== undefined && (right === undefined || cell(i + 1, j) >= cell(i, j + 1))) {
      found.push({ kind: "del", text: left });
      i += 1;
    } else {
      found.push({ kind: "add", text: right ?? "" });
      j += 1;
    }
  }
  return found;
};

export const lineDifference = (before: string, after: string): readonly Line[] => {
  const [a, b] = [before.split("\n"), after.split("\n")];
  const start = commonStart(a, b);
  const [restA, restB] = [a.slice(start), b.slice(start)];
  const end = commonStart([...restA].reverse(), [...restB].reverse());
  return [
    ...lines("same", a.slice(0, start)),
    ...middle(restA.slice(0, restA.length - end), restB.slice(0, restB.length - end)),
    ...lines("same", end === 0 ? [] : restA.slice(-end)),
  ];
};

/** A line that the other text does not have, or one before which (at the end: after which) lines are gone. */
export type Sign = "" | "+" | "−";

/** A sign for each line of `after`. */
export const lineSigns = (before: string, after: string): readonly Sign[] => {
  const signs: Sign[] = [];
  let isGone = false;
  for (const { kind } of lineDifference(before, after)) {
    if (kind !== "del") signs.push(kind === "add" ? "+" : isGone ? "−" : "");
    isGone = kind === "del";
  }
  const last = signs.at(-1);
  return isGone && last === "" ? [...signs.slice(0, -1), "−"] : signs;
};
