import { PassThrough } from "node:stream";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CHUNKS_MAX, readBody } from "../../../src/http/counted-body.ts";
import { ProblemError } from "../../../src/http/problem-error.ts";

const test = suite("a body as it comes");

type Read = {
  readonly error: Error | null;
  readonly body: Buffer | null | undefined;
  readonly taken: readonly number[];
};

/** Reads a stream that stands for a request, with room for `room` bytes. */
const read = (
  write: (stream: PassThrough) => void,
  {
    bytesMax = 1_000_000,
    silenceMs = 60_000,
    room = 1_000_000,
    headers = {},
  }: { bytesMax?: number; silenceMs?: number; room?: number; headers?: object },
): Promise<Read> =>
  new Promise((resolve) => {
    const taken: number[] = [];
    let left = room;
    const take = (bytes: number): boolean => {
      left -= bytes;
      if (left >= 0) taken.push(bytes);
      return left >= 0;
    };
    const stream = Object.assign(new PassThrough(), { headers, complete: false });
    // Of a request only its headers, whether all of it has come, and these events are used.
    readBody(stream as never, { bytesMax, silenceMs, take }, (error, body) => resolve({ error, body, taken }));
    write(stream);
  });

const codeOf = ({ error }: Read): string => (error instanceof ProblemError ? error.problem.problem : String(error));

test("pieces of any size are one body, and none is an empty one", async () => {
  for (const sizes of [[], [1], [3, 0, 5], [60_000, 1, 60_000, 200_000], Array.from({ length: 300 }, (_, n) => n)]) {
    const pieces = sizes.map((size, n) => Buffer.alloc(size, n));
    const { error, body, taken } = await read((stream) => {
      for (const piece of pieces) stream.write(piece);
      stream.end();
    }, {});
    assert.is(error, null);
    assert.equal(body, Buffer.concat(pieces));
    const sum = taken.reduce((all, bytes) => all + bytes, 0);
    assert.ok(sum <= 2 * (body?.length ?? 0), "at most twice its size is kept");
  }
});

test("a body in thousands of pieces of one byte takes room a few times, and in more pieces is refused", async () => {
  const { body, taken } = await read((stream) => {
    for (let n = 0; n < CHUNKS_MAX; n += 1) stream.write("x");
    stream.end();
  }, {});
  assert.is(body?.length, CHUNKS_MAX);
  assert.ok(taken.length < 20, `${taken.length} times`);
  const more = await read((stream) => {
    for (let n = 0; n <= CHUNKS_MAX; n += 1) stream.write("x");
  }, {});
  assert.is(codeOf(more), "invalid-request");
});

test("a body that is too large, as announced or as it comes, is refused; one of exactly the limit is taken", async () => {
  const announced = await read(() => undefined, { bytesMax: 10, headers: { "content-length": "11" } });
  assert.is(codeOf(announced), "too-large");
  const write = (bytes: number) => (stream: PassThrough) => {
    for (let n = 0; n < bytes; n += 1) stream.write("x");
    stream.end();
  };
  assert.is(codeOf(await read(write(11), { bytesMax: 10 })), "too-large");
  assert.is((await read(write(10), { bytesMax: 10, room: 10 })).body?.length, 10);
});

test("a body of an announced length takes no more room than that, and one in one piece is not copied", async () => {
  const headers = { "content-length": "100" };
  const pieces = await read(
    (stream) => {
      stream.write(Buffer.alloc(90));
      stream.end(Buffer.alloc(10));
    },
    { headers, room: 100 },
  );
  assert.equal([pieces.body?.length, pieces.taken], [100, [90, 10]]);
  const piece = Buffer.from(new ArrayBuffer(100));
  assert.is((await read((stream) => stream.end(piece), { headers })).body?.buffer, piece.buffer);
  const slice = Buffer.alloc(1_000).subarray(0, 100);
  const copied = await read((stream) => stream.end(slice), { headers });
  assert.is.not(copied.body?.buffer, slice.buffer, "the rest of a larger buffer is not kept");
});

test("a body without room is read to its end and discarded, up to the limit", async () => {
  const write = (pieces: number) => (stream: PassThrough) => {
    for (let n = 0; n < pieces; n += 1) stream.write("abc");
    stream.end();
  };
  const { error, body, taken } = await read(write(3), { room: 4, bytesMax: 9 });
  assert.equal([error, body, taken], [null, null, [3]]);
  assert.is(codeOf(await read(write(4), { room: 4, bytesMax: 9 })), "too-large");
});

test("a connection that breaks inside a body is no fault of ours", async () => {
  const cut = await read((stream) => {
    stream.write("abc");
    stream.destroy(new Error("aborted"));
  }, {});
  assert.is(codeOf(cut), "invalid-request");
});

test("a body that falls silent is given up; one that goes on, however slowly, is read to its end", async () => {
  let silent: PassThrough | undefined;
  const given = await read(
    (stream) => {
      silent = stream;
      stream.write("abc");
    },
    { silenceMs: 20 },
  );
  assert.is(codeOf(given), "request-timeout");
  assert.is(silent?.listenerCount("data"), 0);

  const slow = await read(
    (stream) => {
      let left = 20;
      const drip = setInterval(() => {
        left -= 1;
        if (left > 0) return stream.write("x");
        clearInterval(drip);
        return stream.end();
      }, 25);
    },
    { silenceMs: 400 },
  );
  assert.is(slow.body?.length, 19, "longer under way than it may be silent");
});

test.run();
