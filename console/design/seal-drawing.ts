/** A drawing made from a digest, which helps people to compare; only the digits are compared by the program. */

const CENTRE = 20;
const RIM = { outer: 19, short: 17.6, middle: 16.6, long: 15.6 };
const POINTS = 90;

const bytesOf = (digest: string): readonly number[] => {
  const hex = digest.replace(/[^0-9a-f]/gi, "").padEnd(64, "0");
  return Array.from({ length: 32 }, (_, at) => Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16));
};

const point = (radius: number, angle: number): string =>
  `${(CENTRE + radius * Math.cos(angle)).toFixed(1)} ${(CENTRE + radius * Math.sin(angle)).toFixed(1)}`;

/** One tick for each byte: its two highest bits choose the length. */
const rim = (bytes: readonly number[]): string =>
  bytes
    .map((byte, at) => {
      const angle = (at / bytes.length) * 2 * Math.PI;
      const inner = byte >= 192 ? RIM.long : byte >= 128 ? RIM.middle : RIM.short;
      return `M${point(RIM.outer, angle)}L${point(inner, angle)}`;
    })
    .join("");

/** A closed curve of two waves around a circle; five bytes choose their counts, heights and turn. */
const curve = (bytes: readonly number[], radius: number): string => {
  const [first = 0, second = 0, high = 0, low = 0, turn = 0] = bytes;
  const [waves, ripples] = [3 + (first % 6), 5 + (second % 9)];
  const [height, ripple] = [0.12 + high / 1_500, 0.05 + low / 2_500];
  const phase = (turn / 256) * 2 * Math.PI;
  const points = Array.from({ length: POINTS }, (_, at) => {
    const angle = (at / POINTS) * 2 * Math.PI;
    const swing = height * Math.cos(waves * angle + phase) + ripple * Math.sin(ripples * angle);
    return point(radius * (1 + swing), angle);
  });
  return `M${points.join("L")}Z`;
};

export type SealDrawing = { readonly rim: string; readonly curves: readonly string[] };

export const sealDrawing = (digest: string): SealDrawing => {
  const bytes = bytesOf(digest);
  const curves = [10.5, 8, 5].map((radius, at) => curve(bytes.slice(at * 10, at * 10 + 5), radius));
  return { rim: rim(bytes), curves };
};

/** Groups of four digits. */
export const digitGroups = (digest: string): readonly string[] => digest.match(/.{1,4}/g) ?? [];
