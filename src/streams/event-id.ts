import { derivedId } from "../../infra/crypto/ids.ts";

/**
 * The event of an account's source or agent with the sender's own name for the delivery, or of a notification's name with
 * its subject and endpoint: asking twice is one event.
 */
export const eventIdOf = (account: string, origin: string, deliveryKey: string): string =>
  derivedId("evt_", account, origin, deliveryKey);

const EVENT_ID = /^evt_[a-z2-7]{32}$/;

export const isEventId = (text: string): boolean => EVENT_ID.test(text);
