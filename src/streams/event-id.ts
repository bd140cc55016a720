import { derivedId } from "../../infra/crypto/ids.ts";

/**
 * Derived from the sender's name for the delivery (for a notification: from its content and endpoint), so a repeat has
 * the same id.
 */
export const eventIdOf = (account: string, origin: string, deliveryKey: string): string =>
  derivedId("evt_", account, origin, deliveryKey);

const EVENT_ID = /^evt_[a-z2-7]{32}$/;

export const isEventId = (text: string): boolean => EVENT_ID.test(text);
