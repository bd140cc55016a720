/** The double as a process of its own: `node build/test/support/eventstore-double/main.js [port]` prints its url. */

import { startEventStoreDouble } from "./server.ts";

const double = await startEventStoreDouble({ port: Number(process.argv[2] ?? 0) });
console.log(double.url);

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void double.stop());
