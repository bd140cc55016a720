import { derivedId } from "../../infra/crypto/ids.ts";

/** An event's id is derived from the sender's id of the delivery, so that a repeated delivery has the same id. */
export const eventIdOf = (account: string, origin: string, deliveryKey: string): string =>
  derivedId("evt_", account, origin, deliveryKey);

const EVENT_ID = /^evt_[a-z2-7]{32}$/;

export const isEventId = (text: string): boolean => EVENT_ID.test(text);
