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

const BLOCK = 64;
/** A bit that is 1 and the length, which follow the message. */
const PADDING_LEAST = 9;

const words = new Int32Array(ROUNDS);

/** Reads 64 bytes at `at` into the state (section 6.2.2). */
const compress = (state: Int32Array, bytes: DataView, at: number): void => {
  for (let t = 0; t < 16; t += 1) words[t] = bytes.getInt32(at + 4 * t);
  for (let t = 16; t < ROUNDS; t += 1) {
    const x = words[t - 15] as number;
    const y = words[t - 2] as number;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[t] = ((words[t - 16] as number) + s0 + (words[t - 7] as number) + s1) | 0;
  }
  // Each index is within its array, which the compiler does not see.
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let t = 0; t < ROUNDS; t += 1) {
    const S1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const T1 = (h + S1 + ((e & f) ^ (~e & g)) + (K[t] as number) + (words[t] as number)) | 0;
    const S0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const T2 = (S0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + T1) | 0;
    d = c;
    c = b;
    b = a;
    a = (T1 + T2) | 0;
  }
  const next = [a, b, c, d, e, f, g, h];
  for (let i = 0; i < 8; i += 1) state[i] = ((state[i] as number) + (next[i] as number)) | 0;
};

export const sha256 = (message: Uint8Array): Uint8Array => {
  const state = INITIAL.slice();
  const whole = message.length - (message.length % BLOCK);
  const view = new DataView(message.buffer, message.byteOffset, message.length);
  for (let at = 0; at < whole; at += BLOCK) compress(state, view, at);
  const rest = message.length - whole;
  const tail = new Uint8Array(rest + PADDING_LEAST <= BLOCK ? BLOCK : 2 * BLOCK);
  tail.set(message.subarray(whole));
  tail[rest] = 0x80;
  const tailView = new DataView(tail.buffer);
  tailView.setBigUint64(tail.length - 8, BigInt(message.length) * 8n);
  for (let at = 0; at < tail.length; at += BLOCK) compress(state, tailView, at);
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  for (let i = 0; i < 8; i += 1) out.setInt32(4 * i, state[i] as number);
  return digest;
};
