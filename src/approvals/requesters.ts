import { apiKey } from "../../domain/account/api-key.ts";
import { agent } from "../../domain/agent/decider.ts";
import type { Origin, Replay } from "../../domain/delivery/events.ts";
import { activeMakers, source } from "../../domain/source/decider.ts";
import { agentStream, apiKeyStream } from "../accounts/credentials.ts";
import type { Principal } from "../http/route.ts";
import type { Aggregates } from "../streams/aggregates.ts";

type Streams = Pick<Aggregates, "load">;
/** What a person or a program of the account calls with. */
type Credential = { readonly kind: "member" | "key"; readonly id: string };

export const credentialOf = ({ kind, id }: Principal): Credential => {
  // No route that configures anything lets an agent through.
  if (kind === "agent") throw new Error("an agent makes no keys");
  return { kind, id };
};

/**
 * The member who made a credential: of a session the member, of an API key the one who made the key. What a key makes is
 * made by that member, so the answer is the same however many keys made keys. The stream of a key stays when it is
 * revoked: nobody gets rid of what they made.
 */
export const makerOf = async (streams: Streams, { kind, id }: Credential): Promise<string> => {
  if (kind === "member") return id;
  const { state } = await streams.load(apiKey, apiKeyStream(id));
  if (state === null) throw new Error(`the key ${id} was never issued`);
  return state.madeBy;
};

export type Asked = {
  readonly origin: Origin;
  readonly replay?: Replay;
  /** ISO-8601 UTC. */
  readonly at: string;
};

const makersOfOrigin = async (streams: Streams, { origin, at }: Asked): Promise<readonly string[]> => {
  if (origin.kind === "agent") {
    const { state } = await streams.load(agent, agentStream(origin.id));
    return state.phase === "present" ? [await makerOf(streams, { kind: "key", id: state.key.key_id })] : [];
  }
  const { state } = await streams.load(source, `source-${origin.id}`);
  return state.phase === "present" ? activeMakers(state, at) : [];
};

/**
 * Ids of the members who count as the requester: who made the agent's key or a secret of the source that is in force, and
 * who replays the request, by hand or with a key of theirs. Each of them could have sent the request.
 */
export const requestersOf = async (streams: Streams, asked: Asked): Promise<readonly string[]> => {
  const replayer = asked.replay === undefined ? [] : [await makerOf(streams, asked.replay.by)];
  return [...new Set([...(await makersOfOrigin(streams, asked)), ...replayer])];
};
