import { setFlagsFromString } from "node:v8";

/**
 * Percent by which a heap may grow beyond what survived its last full collection. By default it is much more where the
 * machine has much memory.
 */
const HEAP_GROWTH_PERCENT = 20;

/**
 * Set from the inside, because a flag of the command holds only if the program is started with it. V8 reads these flags
 * at each collection, so they hold for the main thread as well. Flags for the sizes of heaps would not: set here, they
 * reach only threads that start later, and there they override the thread's `resourceLimits`.
 */
export const limitHeapGrowth = (): void => setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
