import { randomUUID } from "node:crypto";
import type { EventStoreDBClient } from "@eventstore/db-client";
import { StreamsClient } from "@eventstore/db-client/generated/streams_grpc_pb.js";
import type streams from "@eventstore/db-client/generated/streams_pb.js";
import { appendRequest, correlationIdOf, readAnswer } from "./client-append-messages.ts";
import { failureOf } from "./client-failures.ts";
import { type AppendAnswer, type Connection, ConnectionFailure } from "./connection.ts";

/**
 * Replaces the client's `appendToStream`, which shares its pending appends among the whole process: an error of one
 * append rejects all others, and a late answer ends the process with an unhandled error.
 */
export type AppendCall = Pick<Connection, "append"> & {
  retire(): void;
  end(failure: ConnectionFailure): void;
};

type BatchCall = ReturnType<StreamsClient["batchAppend"]>;

type HiddenMembers = {
  readonly GRPCStreamCreator: (
    Client: typeof StreamsClient,
    name: string,
    create: (client: StreamsClient) => BatchCall,
  ) => () => Promise<BatchCall>;
  readonly callArguments: (
    options: object,
    callOptions: { readonly deadline: number },
  ) => Parameters<StreamsClient["batchAppend"]>;
};

type Pending = { readonly resolve: (answered: AppendAnswer) => void; readonly reject: (failure: Error) => void };

const appendCall = (call: BatchCall, onOver: () => void): AppendCall => {
  const pending = new Map<string, Pending>();
  let over: ConnectionFailure | null = null;
  let isRetired = false;

  const end = (failure: ConnectionFailure): void => {
    if (over !== null) return;
    over = failure;
    onOver();
    call.cancel();
    call.destroy();
    for (const { reject } of pending.values()) reject(failure);
    pending.clear();
  };

  const taken = (id: string): Pending | undefined => {
    const found = pending.get(id);
    pending.delete(id);
    if (isRetired && pending.size === 0) setImmediate(end, new ConnectionFailure("unknown", "closed", "retired"));
    return found;
  };

  call.on("data", (answer: streams.BatchAppendResp) => {
    const waiting = taken(correlationIdOf(answer));
    try {
      waiting?.resolve(readAnswer(answer));
    } catch (error) {
      waiting?.reject(failureOf(error));
    }
  });
  call.on("error", (error) => end(failureOf(error)));
  call.on("end", () => end(new ConnectionFailure("unknown", "other", "the server ended the call")));

  return {
    append: (stream, expected, proposed, timeoutMs) =>
      new Promise((resolve, reject) => {
        if (over !== null) {
          reject(new ConnectionFailure("unsent", "not-reached", over.message));
          return;
        }
        const id = randomUUID();
        const timer = setTimeout(() => {
          taken(id)?.reject(new ConnectionFailure("unknown", "silent", `no answer within ${Math.round(timeoutMs)} ms`));
        }, timeoutMs);
        const settling =
          <T>(settle: (value: T) => void) =>
          (value: T): void => {
            clearTimeout(timer);
            settle(value);
          };
        pending.set(id, { resolve: settling(resolve), reject: settling(reject) });
        call.write(appendRequest(id, stream, expected, proposed));
      }),
    retire() {
      isRetired = true;
      if (pending.size === 0) end(new ConnectionFailure("unknown", "closed", "retired"));
    },
    end,
  };
};

export const openAppendCall = async (client: EventStoreDBClient, onOver: () => void): Promise<AppendCall> => {
  // The client's types hide these members, which other versions may lack; the client's version is pinned.
  const below = client as unknown as HiddenMembers;
  let opened: AppendCall | undefined;
  const create = (grpc: StreamsClient): BatchCall => {
    const options = { requiresLeader: true };
    const call = grpc.batchAppend(...below.callArguments(options, { deadline: Number.POSITIVE_INFINITY }));
    // `appendCall` adds the listeners at once: an error without a listener would end the process.
    opened = appendCall(call, onOver);
    return call;
  };
  await below.GRPCStreamCreator(StreamsClient, "appendToStream", create)();
  if (opened === undefined) throw new Error("the client made no call");
  return opened;
};
