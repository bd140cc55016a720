import type { RecordLinks } from "../../domain/ports/key-map-store.ts";

/**
 * The links of some records, packed: the keys once, then for each record the places of its keys and their numbers. Of a
 * link's last index only the distance is stored, which is small for most keys.
 */

/** A number in groups of 7 bits, the lowest first (LEB128); higher bits than 32 are not lost, so no bit operators. */
const pushNumber = (bytes: number[], value: number): void => {
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
};

export const packedLinks = (first: number, records: readonly RecordLinks[]): Uint8Array => {
  const places = new Map<string, number>();
  const numbers: number[] = [];
  for (const [i, links] of records.entries()) {
    pushNumber(numbers, links.length);
    for (const [key, [n, last]] of links) {
      const place = places.get(key) ?? places.size;
      places.set(key, place);
      pushNumber(numbers, place);
      pushNumber(numbers, n);
      if (last !== null) pushNumber(numbers, first + i - last);
    }
  }
  const keys = Buffer.from(JSON.stringify([...places.keys()]));
  const lengths: number[] = [];
  pushNumber(lengths, records.length);
  pushNumber(lengths, keys.length);
  return Buffer.concat([Buffer.from(lengths), keys, Buffer.from(numbers)]);
};

export const unpackedLinks = (first: number, bytes: Uint8Array): readonly RecordLinks[] => {
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at] ?? 0;
      at += 1;
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
  };
  const count = number();
  const length = number();
  const keys = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + at, length).toString()) as readonly string[];
  at += length;
  return Array.from({ length: count }, (_, i) =>
    Array.from({ length: number() }, () => {
      const key = keys[number()] ?? "";
      const n = number();
      return [key, n === 0 ? [0, null] : [n, first + i - number()]] as const;
    }),
  );
};
