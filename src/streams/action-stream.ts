import { derivedId } from "../../infra/crypto/ids.ts";

export const actionId = (account: string, name: string): string => derivedId("act_", account, name);
export const actionStream = (account: string, name: string): string => `action-${actionId(account, name)}`;
