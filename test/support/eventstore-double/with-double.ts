import { EventStoreDBClient } from "@eventstore/db-client";
import { type EventStoreDouble, type EventStoreDoubleOptions, startEventStoreDouble } from "./server.ts";

/** Runs a test's body with a double of its own and a client of it; both are gone afterwards. */
export const withDouble = async (
  options: EventStoreDoubleOptions,
  run: (client: EventStoreDBClient, double: EventStoreDouble) => Promise<void>,
): Promise<void> => {
  const double = await startEventStoreDouble(options);
  const client = EventStoreDBClient.connectionString(double.url);
  try {
    await run(client, double);
  } finally {
    double.thaw();
    await double.stop();
    await client.dispose();
  }
};
