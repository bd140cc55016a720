import { Kafka, logLevel } from "kafkajs";

const CONNECT_MS = 5_000;
export const REQUEST_MS = 15_000;
const RETRY_FIRST_MS = 100;
const RETRY_LAST_MS = 1_000;

/** Logging is off, because kafkajs would log each failure that it also rejects with. */
export const kafkaClient = (brokers: readonly string[]): Kafka =>
  new Kafka({
    clientId: "countersign",
    brokers: [...brokers],
    connectionTimeout: CONNECT_MS,
    requestTimeout: REQUEST_MS,
    retry: { retries: brokers.length, initialRetryTime: RETRY_FIRST_MS, maxRetryTime: RETRY_LAST_MS },
    logLevel: logLevel.NOTHING,
  });
