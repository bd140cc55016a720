import { withTimeout } from "../../infra/with-timeout.ts";
import type { Readings } from "./readings.ts";

const CHECK_MS = 1_000;

export const partsReading =
  (checks: Readonly<Record<string, () => Promise<boolean>>>): Readings["parts"] =>
  async () => {
    const ask = async ([part, check]: readonly [string, () => Promise<boolean>]): Promise<[string, boolean]> => [
      part,
      await withTimeout(CHECK_MS, `${part} is late`, check()).catch(() => false),
    ];
    return Object.fromEntries(await Promise.all(Object.entries(checks).map(ask)));
  };
