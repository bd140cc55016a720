/** How a person writes the pauses between the attempts of a delivery. Pure. */

const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/** Exact, so that a schedule that is saved as it was shown stays the same. */
const pauseText = (seconds: number): string => {
  const [unit, size] = UNITS.find(([, it]) => seconds >= it && seconds % it === 0) ?? ["s", 1];
  return `${seconds / size} ${unit}`;
};

/** `5 s, 30 s, 2 min`: the pauses, in seconds, in their order. */
export const scheduleText = (pausesS: readonly number[]): string => pausesS.map(pauseText).join(", ");

/** A number with its unit; without one it is seconds. */
const PAUSE = /^(\d+)\s*(s|min|h|d)?$/;

/** The pauses in seconds; null if one cannot be read. Nothing written means no further attempt. */
export const scheduleIn = (text: string): readonly number[] | null => {
  if (text.trim() === "") return [];
  const pauses = text.split(",").map((it) => {
    const [, number, unit = "s"] = PAUSE.exec(it.trim()) ?? [];
    const size = UNITS.find(([name]) => name === unit)?.[1];
    return number === undefined || size === undefined ? null : Number(number) * size;
  });
  const read = pauses.filter((it) => it !== null);
  return read.length === pauses.length ? read : null;
};
