/**
 * The entry of the program. Name look-ups and password hashes share libuv's thread pool: with its default of four threads
 * slow ones of a kind would hold up the other. The size is read once, before the first ES module is loaded, so it is set
 * here.
 */
process.env.UV_THREADPOOL_SIZE ??= "16";
void import("./main.ts");
