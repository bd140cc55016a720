import { LRUCache } from "lru-cache";
import { bundle } from "../../domain/bundle/decider.ts";
import type { Bundle } from "../../domain/bundle/state.ts";
import { type Delivery, stepEndOf } from "../../domain/delivery/state.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import { bundleStream } from "../streams/bundle-id.ts";
import { NO_TRACE } from "../streams/envelope.ts";
import { foldStream, type StreamState } from "../streams/run-command.ts";
import type { BeginBundle } from "./claiming.ts";
import { type BundleEntry, BundleMoves, type BundleMovesDeps } from "./moves.ts";
import { turns } from "./turns.ts";

export type BundleRunnerDeps = BundleMovesDeps & { readonly onError: (error: unknown) => void };

/** More at once would only delay work of other kinds. */
const BUNDLES_AT_ONCE = 32;
/** Bundles in memory between two of their steps; any other is read again. */
const ENTRIES_MAX = 5_000;

/** Runs bundles that this or another node has admitted. */
export class BundleRunner {
  readonly #deps: BundleRunnerDeps;
  readonly #moves: BundleMoves;
  readonly #turns = turns(BUNDLES_AT_ONCE);
  readonly #entries = new LRUCache<string, BundleEntry>({ max: ENTRIES_MAX });
  #stopping = false;

  constructor(deps: BundleRunnerDeps) {
    this.#deps = deps;
    this.#moves = new BundleMoves(deps);
  }

  /**
   * Does all that can be done for a bundle now, up to a delivery whose end is awaited. May be called at any time, from
   * several nodes: nothing is done twice. Rejects with the log's errors; the next call continues.
   */
  advance(bundleId: string): Promise<Bundle> {
    return this.#turns.take(bundleId, () => this.#moveOn(bundleId));
  }

  /** The deliverer of this process calls it when a delivery has ended, so that the next step begins at once. */
  delivered(eventId: string, known: StreamState<Delivery>): void {
    const { state } = known;
    if (!("request" in state) || stepEndOf(state) === null || state.request.bundle === undefined) return;
    const it = this.#entries.get(state.request.bundle.id);
    if (it?.delivery?.eventId === eventId) it.delivery.known = known;
    this.advance(state.request.bundle.id).catch(this.#deps.onError);
  }

  /** Finishes what has begun. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#turns.idle();
  }

  async #moveOn(bundleId: string): Promise<Bundle> {
    const it = this.#entryOf(bundleId);
    const onEvent = ({ type, meta }: RecordedEvent): void => {
      if (type !== "BundleAdmitted" && type !== "BundleHeld") return;
      it.account = meta.account;
      it.trace = { trace_id: meta.trace_id, span_id: meta.span_id };
    };
    try {
      it.known = await foldStream(this.#deps.log, bundle, bundleStream(bundleId), { from: it.known, onEvent });
      for (;;) {
        const before = it.known.revision;
        if (this.#stopping || !(await this.#moves.move(it))) break;
        if (it.known.revision === before) throw new Error(`${bundleId} does not go on at its revision ${before}`);
      }
    } catch (error) {
      // The entry may be wrong, so the bundle is read again.
      this.#entries.delete(bundleId);
      throw error;
    }
    const { state } = it.known;
    if (state.phase !== "running" || state.end !== null) this.#entries.delete(bundleId);
    return state;
  }

  #entryOf(bundleId: string): BundleEntry {
    const it = this.#entries.get(bundleId) ?? {
      bundleId,
      account: "",
      trace: NO_TRACE,
      known: { state: bundle.initial, revision: null },
      delivery: null,
    };
    this.#entries.set(bundleId, it);
    return it;
  }
}

/** A bundle that this process admits begins at once; its reactor would begin it later. */
export const startingAtOnce =
  (begin: BeginBundle, runner: Pick<BundleRunner, "advance">, onError: (error: unknown) => void): BeginBundle =>
  async (ask) => {
    const begun = await begin(ask);
    if (!("problem" in begun)) runner.advance(begun.bundleId).catch(onError);
    return begun;
  };
