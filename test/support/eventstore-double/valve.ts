import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** A connection that can be frozen: open, taking nothing and giving nothing, as when its process is stopped. */
export type Valve = {
  readonly stream: Duplex;
  readonly freeze: () => void;
  readonly thaw: () => void;
};

export const valve = (socket: Socket, frozenAtFirst: boolean): Valve => {
  let frozen = frozenAtFirst;
  let held: (() => void)[] = [];

  const whenOpen = (run: () => void): void => {
    if (frozen) held.push(run);
    else run();
  };

  const stream = new Duplex({
    read: () => whenOpen(() => socket.resume()),
    write: (chunk, _encoding, done) => whenOpen(() => socket.write(chunk, done)),
    writev: (chunks, done) => whenOpen(() => socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done)),
    final: (done) => whenOpen(() => socket.end(done)),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (chunk: Buffer) => {
    if (!stream.push(chunk)) socket.pause();
  });
  socket.on("end", () => stream.push(null));
  socket.on("close", () => stream.destroy());
  socket.on("error", () => stream.destroy());
  if (frozen) socket.pause();

  return {
    stream,
    freeze() {
      frozen = true;
      socket.pause();
    },
    thaw() {
      frozen = false;
      const waiting = held;
      held = [];
      for (const run of waiting) run();
      socket.resume();
    },
  };
};
