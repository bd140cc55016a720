import type { Clock } from "../domain/ports/clock.ts";

export const systemClock: Clock = { now: () => Date.now() };
