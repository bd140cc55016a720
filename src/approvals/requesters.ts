import { apiKey } from "../../domain/account/api-key.ts";
import { agent } from "../../domain/agent/decider.ts";
import type { Origin, Replay, Sample } from "../../domain/delivery/events.ts";
import { activeMakers, source } from "../../domain/source/decider.ts";
import { agentStream, apiKeyStream } from "../accounts/credentials.ts";
import type { Principal } from "../http/route.ts";
import type { Aggregates } from "../streams/aggregates.ts";

type Streams = Pick<Aggregates, "load">;
type Credential = { readonly kind: "member" | "key"; readonly id: string };

export const credentialOf = ({ kind, id }: Principal): Credential => {
  if (kind === "agent") throw new Error("an agent cannot make keys");
  return { kind, id };
};

/** An API key stands for its maker, even after it was revoked, so that nobody can disown what they made. */
export const makerOf = async (streams: Streams, { kind, id }: Credential): Promise<string> => {
  if (kind === "member") return id;
  const { state } = await streams.load(apiKey, apiKeyStream(id));
  if (state === null) throw new Error(`the key ${id} was never issued`);
  return state.madeBy;
};

export type Asked = {
  readonly origin: Origin;
  readonly replay?: Replay | undefined;
  readonly sample?: Sample | undefined;
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

/** The members who could have sent the request: makers of the key or of a secret in force, and who replayed or sampled it. */
export const requestersOf = async (streams: Streams, asked: Asked): Promise<readonly string[]> => {
  const makers = [...(await makersOfOrigin(streams, asked))];
  for (const order of [asked.sample, asked.replay]) {
    if (order !== undefined) makers.push(await makerOf(streams, order.by));
  }
  return [...new Set(makers)];
};
