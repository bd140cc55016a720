/**
 * The entry of the program. Name look-ups and password hashes share libuv's thread pool: with its default of four threads
 * slow ones of a kind would hold up the other. The size is read once, before the first ES module is loaded, so it is set
 * here.
 */
process.env.UV_THREADPOOL_SIZE ??= "16";

// To load the program takes longer than to open what it works on, and the first process of a container hears only the
// signals that it listens to. Nothing is open yet; once it is loaded the program listens itself, from the same turn on.
const stop = (): void => process.exit(0);
const heard: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT"];
for (const signal of heard) process.once(signal, stop);
void import("./main.ts").then(() => {
  for (const signal of heard) process.off(signal, stop);
});
