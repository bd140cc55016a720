import { LRUCache } from "lru-cache";
import { bundle } from "../../domain/bundle/decider.ts";
import type { Bundle } from "../../domain/bundle/state.ts";
import { type Delivery, stepEndOf } from "../../domain/delivery/state.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import { bundleStream } from "../streams/bundle-id.ts";
import { NO_TRACE } from "../streams/envelope.ts";
import { foldStream, type StreamState } from "../streams/run-command.ts";
import type { BeginBundle } from "./bundle-claim.ts";
import { type BundleEntry, BundleMoves, type BundleMovesDeps } from "./moves.ts";
import { turns } from "./turns.ts";

export type BundleRunnerDeps = BundleMovesDeps & { readonly onError: (error: unknown) => void };

const BUNDLES_AT_ONCE = 32;
/** So many bundles are kept in memory. A bundle that was dropped is read from the log again. */
const ENTRIES_MAX = 5_000;

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
   * Runs a bundle until it waits for a delivery. It may be called at any time and on several nodes at once, because
   * each move takes effect once. Rejects with the log's errors; the next call continues.
   */
  advance(bundleId: string): Promise<Bundle> {
    return this.#turns.take(bundleId, () => this.#moveOn(bundleId));
  }

  /** The deliverer of this process calls this at the end of each delivery, so that the next step starts at once. */
  delivered(eventId: string, known: StreamState<Delivery>): void {
    const { state } = known;
    if (!("request" in state) || stepEndOf(state) === null || state.request.bundle === undefined) return;
    const it = this.#entries.get(state.request.bundle.id);
    if (it?.delivery?.eventId === eventId) it.delivery.known = known;
    this.advance(state.request.bundle.id).catch(this.#deps.onError);
  }

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
      // The failed move may have left the entry wrong, so the next call reads the bundle from the log.
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

export const startingAtOnce =
  (begin: BeginBundle, runner: Pick<BundleRunner, "advance">, onError: (error: unknown) => void): BeginBundle =>
  async (order) => {
    const begun = await begin(order);
    if (!("problem" in begun)) runner.advance(begun.bundleId).catch(onError);
    return begun;
  };
