import { derivedId } from "../../infra/crypto/ids.ts";

/** The id is derived from the sender's name for the delivery, so that a repeat has the same one. */
export const eventIdOf = (account: string, origin: string, deliveryKey: string): string =>
  derivedId("evt_", account, origin, deliveryKey);

const EVENT_ID = /^evt_[a-z2-7]{32}$/;

export const isEventId = (text: string): boolean => EVENT_ID.test(text);
