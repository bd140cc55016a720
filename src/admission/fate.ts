import { delivery } from "../../domain/delivery/decider.ts";
import { isLoopLedger } from "../../domain/ledger/loop.ts";
import type { Clock, EventLog, Randomness } from "../../domain/ports.ts";
import { source } from "../../domain/source/decider.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { NO_TRACE } from "../envelope.ts";
import { readOn, runCommand } from "../run-command.ts";
import type { LedgerDeps } from "./ledger-stream.ts";

/**
 * What became of the holder of a place whose request is gone. An event that was not admitted is fenced in its own stream
 * first: a request that is only very slow then loses its claim and asks the gates again, so its place can be given back.
 * An admitted one keeps the places that it names until it has ended, and has spent every other by being admitted.
 */
export const fate =
  (log: EventLog, clock: Clock, randomness: Randomness): LedgerDeps["fate"] =>
  async (account, event, ledger) => {
    if (event.startsWith("src_")) {
      const { state } = await readOn(log, source, `source-${event}`, { state: source.initial, revision: null });
      return state.phase === "present" ? "open" : "free";
    }
    // What a replay has cost on top, settled in the breath after it is reserved (`src/execute/reactions.ts`).
    if (event.includes("/")) return "spent";
    const at = new Date(clock.now()).toISOString();
    const envelope = {
      commandId: randomId("cmd_", randomness),
      account,
      actor: { kind: "system", id: "ledger" },
      trace: NO_TRACE,
      at,
    } as const;
    const stream = `delivery-${event}`;
    const known = await readOn(log, delivery, stream, { state: delivery.initial, revision: null });
    const ran = await runCommand(log, delivery, stream, known, { type: "Abandon", eventId: event, at }, envelope);
    if (ran.outcome !== "rejected") return "free";
    const { state } = ran.known;
    if (!("request" in state)) return "spent";
    const { origin, ledgers } = state.request;
    if (ledgers?.includes(ledger) !== true) {
      const isPaid = isLoopLedger(ledger) || (origin.kind === "source" && ledgers === undefined);
      // Of another day or policy, taken by a request that died before the one that was admitted.
      return isPaid ? "spent" : "free";
    }
    const spent = "spent" in state ? state.spent : undefined;
    if (spent === undefined) return "kept";
    return spent === null ? "free" : { spent };
  };
