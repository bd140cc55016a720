import { endpoint } from "../../domain/endpoint/decider.ts";
import { policy } from "../../domain/policy/decider.ts";
import type { Aggregates } from "../streams/aggregates.ts";

/** A request may name any text, and only ids in the form that `derivedId` makes are looked up. */
const ENDPOINT_ID = /^end_[a-z2-7]{32}$/;
const POLICY_ID = /^pol_[a-z2-7]{32}$/;

export const isEndpointId = (text: string): boolean => ENDPOINT_ID.test(text);
export const isPolicyId = (text: string): boolean => POLICY_ID.test(text);

export const references = (streams: Pick<Aggregates, "load">) => ({
  endpointExists: async (account: string, id: string): Promise<boolean> => {
    if (!isEndpointId(id)) return false;
    const { state } = await streams.load(endpoint, `endpoint-${id}`);
    return state.phase === "present" && state.account === account;
  },
  policyExists: async (account: string, id: string): Promise<boolean> => {
    if (!isPolicyId(id)) return false;
    const { state } = await streams.load(policy, `policy-${id}`);
    return state.phase === "published" && state.account === account;
  },
});
