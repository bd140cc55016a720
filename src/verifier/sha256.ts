/** SHA-256 (FIPS 180-4), for browsers, whose own is asynchronous: a tree of a million leaves would wait a million times. */

/** The first 32 bits of the fractional parts of the roots of the first primes (sections 4.2.2 and 5.3.3). */
const fraction = (root: number): number => Math.floor((root - Math.floor(root)) * 2 ** 32);

const primes = (count: number): readonly number[] => {
  const found: number[] = [];
  for (let it = 2; found.length < count; it += 1) if (found.every((prime) => it % prime !== 0)) found.push(it);
  return found;
};

const ROUNDS = 64;
const K = Int32Array.from(primes(ROUNDS), (prime) => fraction(Math.cbrt(prime)));
const INITIAL = Int32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime)));

const DIGEST_BYTES = 32;
const BLOCK = 64;
/** A bit that is 1 and the length, which follow the message. */
const PADDING_LEAST = 9;

/** Every call fills these anew. They are made once because most messages are two blocks, and an array costs as much as one. */
const words = new Int32Array(ROUNDS);
const tail = new Uint8Array(2 * BLOCK);
const state = new Int32Array(8);

// In this file each index is within its array, which the compiler does not see; `as number` costs nothing.

/** Fills the words of the block at `at` (section 6.2.2, step 1). */
const schedule = (bytes: Uint8Array, at: number): void => {
  for (let t = 0, from = at; t < 16; t += 1, from += 4)
    words[t] =
      ((bytes[from] as number) << 24) |
      ((bytes[from + 1] as number) << 16) |
      ((bytes[from + 2] as number) << 8) |
      (bytes[from + 3] as number);
  for (let t = 16; t < ROUNDS; t += 1) {
    const x = words[t - 15] as number;
    const y = words[t - 2] as number;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[t] = ((words[t - 16] as number) + s0 + (words[t - 7] as number) + s1) | 0;
  }
};

/**
 * Reads the 64 bytes at `at` into the state (section 6.2.2). The choice `(e & f) ^ (~e & g)` and the majority
 * `(a & b) ^ (a & c) ^ (b & c)` are written with fewer operations.
 */
const compress = (bytes: Uint8Array, at: number): void => {
  schedule(bytes, at);
  // A destructured array is iterated over, which takes longer than the rounds of a block.
  let a = state[0] as number;
  let b = state[1] as number;
  let c = state[2] as number;
  let d = state[3] as number;
  let e = state[4] as number;
  let f = state[5] as number;
  let g = state[6] as number;
  let h = state[7] as number;
  for (let t = 0; t < ROUNDS; t += 1) {
    const S1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const T1 = (h + S1 + (g ^ (e & (f ^ g))) + (K[t] as number) + (words[t] as number)) | 0;
    const S0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const T2 = (S0 + ((a & b) | (c & (a | b)))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + T1) | 0;
    d = c;
    c = b;
    b = a;
    a = (T1 + T2) | 0;
  }
  // An Int32Array keeps 32 bits of a sum.
  state[0] = (state[0] as number) + a;
  state[1] = (state[1] as number) + b;
  state[2] = (state[2] as number) + c;
  state[3] = (state[3] as number) + d;
  state[4] = (state[4] as number) + e;
  state[5] = (state[5] as number) + f;
  state[6] = (state[6] as number) + g;
  state[7] = (state[7] as number) + h;
};

/** Writes the value's 32 bits at `at`, the highest first. */
const putWord = (bytes: Uint8Array, at: number, value: number): void => {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
};

export const sha256 = (message: Uint8Array): Uint8Array => {
  state.set(INITIAL);
  const rest = message.length % BLOCK;
  const whole = message.length - rest;
  for (let at = 0; at < whole; at += BLOCK) compress(message, at);
  const length = rest + PADDING_LEAST <= BLOCK ? BLOCK : 2 * BLOCK;
  tail.fill(0);
  for (let i = 0; i < rest; i += 1) tail[i] = message[whole + i] as number;
  tail[rest] = 0x80;
  putWord(tail, length - 8, Math.floor(message.length / 2 ** 29));
  putWord(tail, length - 4, message.length * 8);
  for (let at = 0; at < length; at += BLOCK) compress(tail, at);
  const digest = new Uint8Array(DIGEST_BYTES);
  for (let i = 0; i < 8; i += 1) putWord(digest, 4 * i, state[i] as number);
  return digest;
};
