import type { EventLog } from "../../domain/ports/event-log.ts";

/** One sentence of the contract. The log that it is given may hold other streams, and may be shared. */
export type ContractCase = { readonly name: string; readonly run: (log: EventLog) => Promise<void> };
