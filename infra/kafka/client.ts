import { Kafka, logLevel } from "kafkajs";

const CONNECT_MS = 5_000;
/** For one request; kafkajs looks every 100 ms whether one is over it. */
export const REQUEST_MS = 15_000;
const RETRY_FIRST_MS = 100;
const RETRY_LAST_MS = 1_000;

/** kafkajs logs each failure and rejects with it; whoever called reports it, once. */
export const kafkaClient = (brokers: readonly string[]): Kafka =>
  new Kafka({
    clientId: "countersign",
    brokers: [...brokers],
    connectionTimeout: CONNECT_MS,
    requestTimeout: REQUEST_MS,
    // Each retry asks the next of the brokers: all of them get a turn.
    retry: { retries: brokers.length, initialRetryTime: RETRY_FIRST_MS, maxRetryTime: RETRY_LAST_MS },
    logLevel: logLevel.NOTHING,
  });
