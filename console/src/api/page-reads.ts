import { EarlyReads } from "./early-reads.ts";
import { ReadPositions } from "./read-positions.ts";

export const readPositions = new ReadPositions((...given) => fetch(...given));
export const earlyReads = new EarlyReads(readPositions.fetch);
