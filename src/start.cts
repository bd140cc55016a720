/**
 * Name look-ups and password hashes share libuv's thread pool, whose default of four threads lets slow ones of a kind
 * delay the other. Its size is read once, before the first ES module is loaded.
 */
process.env.UV_THREADPOOL_SIZE ??= "16";

// The first process of a container ignores signals without a listener. Nothing is open yet, so it may exit; `main.ts`
// replaces this listener.
const stop = (): void => process.exit(0);
const heard: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT"];
for (const signal of heard) process.once(signal, stop);
void import("./main.ts").then(() => {
  for (const signal of heard) process.off(signal, stop);
});
