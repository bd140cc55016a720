import type { Duplex } from "node:stream";
import { GossipService } from "@eventstore/db-client/generated/gossip_grpc_pb.js";
import { ServerFeaturesService } from "@eventstore/db-client/generated/serverfeatures_grpc_pb.js";
import { StreamsService } from "@eventstore/db-client/generated/streams_grpc_pb.js";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import type { PositionRule } from "./append.ts";
import { batchAppend } from "./batch-append.ts";
import { connections } from "./connections.ts";
import type { Context } from "./context.ts";
import {
  type Call,
  type Method,
  type Misbehaving,
  type Misbehaviour,
  misbehaviours,
  type Which,
} from "./misbehaviour.ts";
import { featuresCall, gossipCall } from "./node-calls.ts";
import { readCall } from "./read-calls.ts";
import { newState, type Proposed, type State, scavenge, writeSystemEvents } from "./state.ts";
import type { LiveSubscription } from "./subscriptions.ts";
import type { Endpoint } from "./wire.ts";
import { appendCall, deleteCall, tombstoneCall } from "./write-calls.ts";

export type EventStoreDoubleOptions = {
  /** 0, or absent: a free one. */
  readonly port?: number;
  /** What another double held: its whole log. */
  readonly keep?: State;
  /** Which position is answered to appends. Absent: of the last event, and on a repeat the original one. */
  readonly positions?: Partial<PositionRule>;
  /** Newer servers count types and metadata as well. Absent: the data alone. */
  readonly appendSize?: "data" | "everything";
  /** Absent: the batch path is offered, and the client takes it when no credentials are given. */
  readonly batch?: boolean;
  /** How many events may wait for the client of a live subscription. */
  readonly liveBuffer?: number;
  /** By how much its clock is ahead of the client's; `state.aheadMs` sets it. */
  readonly aheadMs?: number;
  /** After so many records the server writes some of its own; 0: never, and none at the start. Of a new state only. */
  readonly systemEventsEvery?: number;
};

/** A server that speaks EventStoreDB's gRPC over TCP, as 23.10 answers, and that misbehaves on demand. */
export type EventStoreDouble = {
  /** A connection string. */
  readonly url: string;
  readonly port: number;
  /** Where it can be reached, for `not-leader` of another double. */
  readonly endpoint: Endpoint;
  /** The log, streams and all: for looking at and for `keep`. */
  readonly state: State;
  /** Does this to the next call, or the next `times` calls, that `which` names. */
  misbehave(misbehaviour: Misbehaviour, which?: Which): Misbehaving;
  /** From here on it behaves. */
  behave(): void;
  /** The calls that came, in order; of an append when its last part is here. */
  calls(method?: Method, stream?: string): readonly Call[];
  /** How many events were sent in answer to such calls; what a filter leaves out is not sent. */
  given(method: "read" | "readAll" | "subscribe"): number;
  /** The subscriptions that are open. */
  subscriptions(): readonly LiveSubscription[];
  /** How many connections are open. */
  open(): number;
  /** Cuts all connections at once; who connects again is served. */
  crash(): void;
  /** Cuts all connections and refuses new ones. What was committed stays, what came over a batch in parts is lost. */
  stop(): Promise<void>;
  /** As a stopped process: connections are taken and kept, nothing is answered, until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Serves again on the same port with the same log; as after any restart, repeats with ANY are not recognized. */
  start(): Promise<void>;
  /** Removes what is truncated or deleted from `$all`, but for the last event of each stream. */
  scavenge(): void;
  /** Lets the server write events of its own. */
  writeSystemEvents(count: number): void;
};

/** The server's limit, `--max-append-size`. */
const APPEND_BYTES_MAX = 1_048_576;
/** Enumerators.MaxLiveEventBufferCount of the server. */
const LIVE_BUFFER = 32;
/** A message of more ends its call with RESOURCE_EXHAUSTED, as a server does from about its largest record on. */
const MESSAGE_BYTES_MAX = 17 * 1024 * 1024;

const sizes = {
  data: (event: Proposed): number => event.data.length,
  everything: (event: Proposed): number => event.data.length + event.metadata.length + 2 * event.type.length,
};

/** Timers that end with the double, so that a stopped one keeps no process alive. */
const laterRuns = () => {
  const timers = new Set<NodeJS.Timeout>();
  return {
    later(ms: number, run: () => void): void {
      const timer = setTimeout(() => {
        timers.delete(timer);
        run();
      }, ms);
      timers.add(timer);
    },
    cancel(): void {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
};

/** A gRPC server for one connection: a call does not say which it came on, and some misbehaviours cut it. */
const serve = (stream: Duplex, context: Context, port: () => number): void => {
  const server = new Server({ "grpc.max_receive_message_length": MESSAGE_BYTES_MAX, "grpc.enable_channelz": 0 });
  server.addService(StreamsService, {
    read: readCall(context),
    append: appendCall(context),
    delete: deleteCall(context),
    tombstone: tombstoneCall(context),
    batchAppend: batchAppend(context),
  });
  server.addService(ServerFeaturesService, { getSupportedMethods: featuresCall(context) });
  server.addService(GossipService, { read: gossipCall(context, port) });
  server.createConnectionInjector(ServerCredentials.createInsecure()).injectConnection(stream);
  stream.on("close", () => server.forceShutdown());
};

export const startEventStoreDouble = async (options: EventStoreDoubleOptions = {}): Promise<EventStoreDouble> => {
  const state = options.keep ?? newState(options.systemEventsEvery);
  state.aheadMs = options.aheadMs ?? 0;
  const timers = laterRuns();
  const subscriptions = new Set<LiveSubscription>();
  const odd = misbehaviours();
  const given: Context["given"] = new Map();
  const common: Omit<Context, "cut"> = {
    state,
    positions: { ofSeveral: "last", onRepeat: "original", ...options.positions },
    appendBytesMax: APPEND_BYTES_MAX,
    sizeOf: sizes[options.appendSize ?? "data"],
    liveBuffer: options.liveBuffer ?? LIVE_BUFFER,
    withBatch: options.batch ?? true,
    misbehaviours: odd,
    subscriptions,
    lastPage: new Map(),
    given,
    later: timers.later,
  };
  const lines = connections((stream, cut) => serve(stream, { ...common, cut }, () => port));
  const port = await lines.listen(options.port ?? 0);

  return {
    url: `esdb://127.0.0.1:${port}?tls=false`,
    port,
    endpoint: { address: "127.0.0.1", port },
    state,
    misbehave: (misbehaviour, which = {}) => odd.add(misbehaviour, which),
    behave: odd.clear,
    calls: odd.calls,
    given: (method) => given.get(method) ?? 0,
    subscriptions: () => [...subscriptions],
    open: lines.open,
    crash: lines.cut,
    freeze: lines.freeze,
    thaw: lines.thaw,
    async stop() {
      timers.cancel();
      await lines.close();
    },
    async start() {
      state.recentIds.clear();
      await lines.listen(port);
    },
    scavenge: () => scavenge(state),
    writeSystemEvents: (count) => writeSystemEvents(state, count),
  };
};
