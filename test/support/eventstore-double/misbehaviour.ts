import { status } from "@grpc/grpc-js";
import type { Endpoint } from "./wire.ts";

export type Method =
  | "append"
  | "delete"
  | "tombstone"
  /** A stream, either way. */
  | "read"
  /** `$all`, either way. */
  | "readAll"
  /** A stream or `$all`. */
  | "subscribe"
  | "features"
  | "gossip";

export type Call = {
  readonly method: Method;
  /** The stream's name, a metastream's included; null for `$all` and what has none. */
  readonly stream: string | null;
  /** How many events were to be appended; 0 for anything else. */
  readonly events: number;
  /** Whether an append came over the batch path. */
  readonly batch: boolean;
  /** Whether no node but the leader may answer. */
  readonly requiresLeader: boolean;
};

/** `committed`: whether a write is in the log all the same; false when absent. */
type Written = { readonly committed?: boolean };

/** What the double does to a call instead of answering as it should. */
export type Misbehaviour =
  /** Never answers. A subscription: is not even confirmed. */
  | ({ readonly how: "silent" } & Written)
  /** Answers after so many milliseconds; `committed`: writes at once, else after the wait. */
  | ({ readonly how: "slow"; readonly ms: number } & Written)
  /**
   * Writes at once, and answers after so many milliseconds; what is written can be read only then, though it counts for
   * others' expected revisions already: IndexWriter.CheckCommit of the server knows what its writer has taken, its readers
   * what is flushed, replicated and indexed.
   */
  | { readonly how: "late"; readonly ms: number }
  /** Cuts the connection that the call came on; a read after so many events (0), a subscription when it is open. */
  | ({ readonly how: "cut"; readonly afterEvents?: number } & Written)
  /** Ends the call with a status. On the batch path the whole batch call ends, and with it every pending append. */
  | ({ readonly how: "error"; readonly code: status; readonly details?: string } & Written)
  /** Answers that the server's own time was up: on the batch path to this append alone. */
  | ({ readonly how: "timeout" } & Written)
  /** Sends the client to another node. */
  | { readonly how: "not-leader"; readonly leader: Endpoint }
  /** Appends, and answers no position, that of the first event, or one at which no record begins. */
  | { readonly how: "position"; readonly position: "none" | "first" | "wrong" }
  /** A read ends after so many events (0) as if there were nothing more; a subscription when it is open. */
  | { readonly how: "end"; readonly afterEvents?: number }
  /** A read gives its first event twice, within the count that was asked for. */
  | { readonly how: "repeat-event" }
  /** A read gives what the read of its method before this one gave. */
  | { readonly how: "repeat-page" };

/** Which calls: all conditions that are given. `times` is how many of them, 1 when absent. */
export type Which = {
  /** Absent: any but features and gossip, which a client asks for unasked. */
  readonly method?: Method | readonly Method[];
  readonly stream?: string;
  readonly where?: (call: Call) => boolean;
  readonly times?: number;
};

export type Misbehaving = {
  /** How many calls it happened to. */
  readonly happened: () => number;
  readonly stop: () => void;
};

export type Misbehaviours = {
  /** Records the call and says what is to happen to it; null: nothing special. */
  next(call: Call): Misbehaviour | null;
  add(misbehaviour: Misbehaviour, which: Which): Misbehaving;
  calls(method?: Method, stream?: string): readonly Call[];
  clear(): void;
};

export const UNAVAILABLE: Misbehaviour = { how: "error", code: status.UNAVAILABLE, details: "Server Is Not Ready" };
/** What a message of more than 16 MiB does to everything that is pending on the same batch call. */
export const RESOURCE_EXHAUSTED: Misbehaviour = {
  how: "error",
  code: status.RESOURCE_EXHAUSTED,
  details: "Received message exceeds the maximum configured message size.",
};
export const DEADLINE_EXCEEDED: Misbehaviour = { how: "timeout" };

type Rule = { readonly misbehaviour: Misbehaviour; readonly which: Which; left: number; happened: number };

const applies = (which: Which, call: Call): boolean => {
  const { method, stream, where } = which;
  if (method === undefined && (call.method === "features" || call.method === "gossip")) return false;
  if (method !== undefined && ![method].flat().includes(call.method)) return false;
  if (stream !== undefined && stream !== call.stream) return false;
  return where === undefined || where(call);
};

/** The first rule that was added and still applies decides. */
export const misbehaviours = (): Misbehaviours => {
  const received: Call[] = [];
  const rules = new Set<Rule>();
  return {
    next(call) {
      received.push(call);
      for (const rule of rules) {
        if (!applies(rule.which, call)) continue;
        rule.happened += 1;
        rule.left -= 1;
        if (rule.left <= 0) rules.delete(rule);
        return rule.misbehaviour;
      }
      return null;
    },
    add(misbehaviour, which) {
      const rule: Rule = { misbehaviour, which, left: which.times ?? 1, happened: 0 };
      rules.add(rule);
      return { happened: () => rule.happened, stop: () => rules.delete(rule) };
    },
    calls: (method, stream) =>
      received.filter(
        (call) => (method === undefined || call.method === method) && (stream === undefined || call.stream === stream),
      ),
    clear: () => rules.clear(),
  };
};
