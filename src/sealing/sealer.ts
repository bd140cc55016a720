import { createHash } from "node:crypto";
import { INSTANCE_STREAM, type InstanceEvent } from "../../domain/evidence/instance-events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { SEALED_HEADS_MAX, type Unsealed } from "../evidence/unsealed.ts";
import { wakeablePause } from "../following/wakeable-pause.ts";
import { systemEnvelope, toEvents } from "../streams/envelope.ts";
import type { Sealing } from "./sealing.ts";

/** Milliseconds from one seal to the next: a tenth less than a second, so that folding and appending fit into 1.1 s. */
const SEAL_MS = 900;
/** An idle node looks this rarely (ms), in case it missed that records were folded. */
const IDLE_MS = 30_000;

export type SealerDeps = {
  readonly log: Pick<EventLog, "append">;
  readonly sealing: Pick<Sealing, "judge" | "signer" | "state" | "begin" | "instance">;
  readonly clock: Clock;
  /** What is folded up to the log's present end; null if nobody folds at the moment. */
  readonly unsealed: () => Promise<Unsealed | null>;
  readonly onError: (error: unknown) => void;
};

/** `done`: nothing is left to seal; `wait`: it may be possible later, or more is left. */
export type SealOutcome = "sealed" | "done" | "wait";

/**
 * Appends what makes records sealed, expecting the revision up to which the stream is folded: of nodes that race, one
 * appends, and the others find their heads sealed, or seal them a second later.
 */
export const sealOnce = async ({
  log,
  sealing,
  clock,
  unsealed,
}: Omit<SealerDeps, "onError">): Promise<SealOutcome> => {
  const state = await sealing.judge();
  if (state.kind !== "sealing") return state.kind === "starting" ? "wait" : "done";
  const found = await unsealed();
  if (found === null) return "wait";
  const { heads, instance } = found;
  if (heads.length === 0) return "done";
  const named = instance.keys.at(-1);
  const { vkey } = sealing.signer(named?.vkey ?? null);
  if (instance.difference !== null || (named !== undefined && named.vkey !== vkey)) return "wait";
  if (named === undefined) await sealing.begin();
  const events: InstanceEvent[] = [
    ...(named === undefined
      ? [{ type: "SigningKeyNamed", data: { vkey, previous: null, reason: null, handover: null } } as const]
      : []),
    { type: "Sealed", data: { heads } },
  ];
  // The same heads at the same revision are the same command, so a repeat after a lost reply adds nothing.
  const digest = createHash("sha256").update(JSON.stringify(events)).digest("hex");
  const envelope = systemEnvelope({
    actor: "sealing",
    commandId: `seal/${instance.revision ?? "first"}/${digest}`,
    at: new Date(clock.now()).toISOString(),
  });
  const appended = await log.append(INSTANCE_STREAM, instance.revision ?? "absent", toEvents(events, envelope));
  return appended.outcome === "appended" && heads.length < SEALED_HEADS_MAX ? "sealed" : "wait";
};

/** Seals about once a second, and only when records were folded since. */
export class Sealer {
  readonly #deps: SealerDeps;
  readonly #rest = wakeablePause();
  // Folded records end the rest, but not the pause between two seals.
  readonly #between = wakeablePause();
  #isStopping = false;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: SealerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#running = this.#follow();
  }

  /** Records were folded. */
  wake(): void {
    this.#rest.wake();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#rest.wake();
    this.#between.wake();
    await this.#running;
  }

  async #follow(): Promise<void> {
    const { sealing, onError } = this.#deps;
    while (!this.#isStopping) {
      const startedAt = performance.now();
      let outcome: SealOutcome = "wait";
      try {
        outcome = await sealOnce(this.#deps);
        // What was sealed before is remembered beside the key even if nobody asks for a checkpoint.
        if (sealing.state().kind === "sealing") await sealing.instance();
      } catch (error) {
        onError(error);
      }
      if (this.#isStopping) break;
      await this.#between.pause(Math.max(0, startedAt + SEAL_MS - performance.now()));
      if (outcome !== "wait" && !this.#isStopping) await this.#rest.pause(IDLE_MS);
    }
  }
}
