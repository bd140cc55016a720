import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { replay } from "../../domain/replay/decider.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { bulkReplayStart } from "../../src/replays/bulk-replay-start.ts";
import { replayStream } from "../../src/replays/stream.ts";
import { aggregates } from "../../src/streams/aggregates.ts";
import { ACCOUNT, BY, replayIdOf } from "./replay-world.ts";

/** One node, as far as it starts and ends replays. */
export const startingNode = (log: EventLog, clock: Clock) => {
  const streams = aggregates(log, clock);
  const starting = bulkReplayStart({ log, aggregates: streams, clock, randomness });
  const envelopeOf = (commandId: string) => {
    const trace = { trace_id: "1".repeat(32), span_id: "2".repeat(16) };
    return { commandId, account: ACCOUNT, actor: BY, trace, at: new Date(clock.now()).toISOString() };
  };
  return {
    /** "started", or why not. */
    async start(number: number, account = ACCOUNT): Promise<string> {
      const id = replayIdOf(number);
      const envelope = envelopeOf(`start-${id}`);
      const about = { replay_id: id, account, filter: { status: "failed" }, total: 1, rate_per_second: 1 } as const;
      const order = { replay: { ...about, by: BY, reason: null, up_to: null, log: "log_1" }, at: envelope.at };
      const started = await starting(order, envelope);
      if (started === "full") return "full";
      return started.outcome === "rejected" ? started.rejection : "started";
    },
    async end(number: number, how: "FinishReplay" | "CancelReplay"): Promise<void> {
      const id = replayIdOf(number);
      const envelope = envelopeOf(`end-${id}`);
      const by = { account: ACCOUNT, by: BY, reason: null };
      await streams.handle(replay, replayStream(id), { type: how, ...by, at: envelope.at }, envelope);
    },
  };
};
