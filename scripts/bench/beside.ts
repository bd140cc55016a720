import { createServer } from "node:net";
import type { World } from "./bench-world.ts";
import type { EngineSet } from "./engines.ts";
import { measurePair, type Pair, type PairOutcome, type TurnsOrder } from "./turns.ts";
import { ADMISSION } from "./workloads.ts";

/** What runs beside admissions may take this much. */
const BARS = { rateMin: 0.95, processorMax: 1.05 };
const CLOSED = "http://127.0.0.1:9";

const withEnv = (set: EngineSet, env: Readonly<Record<string, string>>): EngineSet => ({
  ...set,
  async open() {
    const engines = await set.open();
    return { ...engines, env: { ...engines.env, ...env } };
  },
});

const hanging = async (): Promise<{ readonly url: string; close(): void }> => {
  const server = createServer((socket) => socket.on("error", () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a port has a number");
  return { url: `http://127.0.0.1:${address.port}`, close: () => void server.close() };
};

export const measureBeside = async (
  world: World,
  set: EngineSet,
  order: Omit<TurnsOrder, "workloads">,
): Promise<readonly PairOutcome[]> => {
  const collector = await hanging();
  const bars = { barsOf: () => BARS, diskMax: null };
  const to = (url: string): EngineSet => withEnv(set, { OTEL_EXPORTER_OTLP_ENDPOINT: url });
  const pairs: readonly Pair[] = [
    { name: "traces, to a collector that is not there", without: set, with: to(CLOSED), ...bars },
    { name: "traces, to a collector that hangs", without: set, with: to(collector.url), ...bars },
    { name: "log lines, LOG_LEVEL info", without: withEnv(set, { LOG_LEVEL: "silent" }), with: set, ...bars },
  ];
  try {
    const measured: PairOutcome[] = [];
    for (const pair of pairs) measured.push(await measurePair(world, pair, { ...order, workloads: [ADMISSION] }));
    return measured;
  } finally {
    collector.close();
  }
};
