import { derivedId } from "../../infra/crypto/ids.ts";

/** An account's action of one name is always the same stream. */
export const actionId = (account: string, name: string): string => derivedId("act_", account, name);
export const actionStream = (account: string, name: string): string => `action-${actionId(account, name)}`;
