import { type Answer, isHeld } from "../../domain/ledger/batch.ts";
import type { LedgerCommand } from "../../domain/ledger/commands.ts";
import { decideLedger } from "../../domain/ledger/decider.ts";
import type { Carried } from "../../domain/ledger/events.ts";
import { carriedFrom, type Ledger } from "../../domain/ledger/state.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";
import { NO_TRACE, type Trace } from "../streams/envelope.ts";
import { LedgerCopy } from "./ledger-copy.ts";
import { LedgerTurn, type Settle, type TurnEnd } from "./ledger-turn.ts";
import { type OrphanDeps, OrphanedPlaces, suspectOf } from "./orphaned-places.ts";
import { type DueSettlements, Settlements } from "./settlements.ts";

export type LedgerFigures = {
  /** Money is in micro-euros; `open` and `spent` count places. */
  readonly reserved: number;
  readonly settled: number;
  readonly overrun: number;
  readonly open: number;
  readonly spent: number;
};

export type LedgerDeps = Omit<OrphanDeps, "startedAt"> & {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly onBatch?: (commands: number) => void;
  readonly onError: (error: unknown) => void;
};

type LedgerStreamDeps = LedgerDeps &
  OrphanDeps & {
    readonly later: (work: Promise<unknown>) => void;
    readonly onSize: (size: number) => void;
  };

/** Commands that are decided together, so few that their records stay far below the 1 MB of an append. */
const BATCH_MAX = 1_000;
/** Commands that may wait for the append in flight; any further command is refused with `LogUnavailable`. */
const QUEUE_MAX = 10_000;
const ATTEMPTS_MAX = 64;
type Waiting = {
  readonly command: LedgerCommand;
  readonly trace: Trace;
  readonly resolve: (answer: Answer | "closed") => void;
  readonly reject: (error: unknown) => void;
};

const REFUSED: Answer = { granted: false };

/** The only writer of a ledger stream in this process. Methods reject with LogUnavailable or OutcomeUnknown. */
export class LedgerStream {
  readonly #stream: string;
  readonly #deps: LedgerStreamDeps;
  readonly #copy: LedgerCopy;
  readonly #orphans: OrphanedPlaces;
  readonly #queue: Waiting[] = [];
  #running = false;
  #underWay = 0;
  #turn: Promise<void> = Promise.resolve();
  #ready: Promise<void> | null = null;
  #sweeping: Promise<void> | null = null;
  #isLoaded = false;
  #turns = 0;
  readonly #settlements = new Settlements(() => this.#deps.later(this.settled()));

  constructor(stream: string, account: string, deps: LedgerStreamDeps) {
    this.#stream = stream;
    this.#deps = deps;
    this.#copy = new LedgerCopy(stream, account, deps);
    this.#orphans = new OrphanedPlaces(stream, account, deps);
  }

  /** "closed" means that the ledger's next day has begun. */
  submit(command: LedgerCommand, trace: Trace): Promise<Answer | "closed"> {
    if (this.#queue.length >= QUEUE_MAX) {
      return Promise.reject(new LogUnavailable(`${this.#stream} has too many waiting`));
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, trace, resolve, reject });
      if (!this.#running) void this.#run();
    });
  }

  /** Settles with the next append, or with one of its own within a second. A sweep makes up for a lost settlement. */
  settleLater(command: Settle): void {
    this.#settlements.add(command);
  }

  /** Resolves once all settlements are recorded, and those of the turn that is under way. */
  async settled(): Promise<void> {
    const conclude = () => this.#inTurn(() => this.#conclude(this.#settlements.take().commands));
    if (this.#turns > 0) await conclude();
    while (!this.#settlements.isEmpty) await conclude();
  }

  /** Null if the ledger is in use, closed, or not read yet. `whenFree` then tells when to ask again. */
  tryTurn(): LedgerTurn | null {
    const copy = this.#copy;
    if (!this.#isLoaded || this.#turns > 0 || this.#queue.length > 0 || copy.ledger.closed) return null;
    return this.#openTurn();
  }

  whenFree(): Promise<void> {
    return this.#inTurn(async () => undefined);
  }

  preview(command: LedgerCommand): Promise<Answer | "closed"> {
    return this.#inTurn(async () => {
      const first = this.#answerTo(command);
      if (first === "closed" || first.granted) return first;
      await this.#makeRoom();
      return this.#answerTo(command);
    });
  }

  /** Closes the ledger, so that it reserves no place any more. Returns the data to open the next day with. */
  close(trace: Trace): Promise<Carried> {
    const { clock } = this.#deps;
    return this.#inTurn(async () => {
      while (!this.#copy.ledger.closed) {
        await this.#copy.append([{ type: "LedgerClosed", data: { at: clock.now() } }], trace);
      }
      return carriedFrom(this.#copy.ledger, clock.now());
    });
  }

  open(carried: Carried, trace: Trace): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#copy.revision === null) await this.#copy.append([{ type: "LedgerOpened", data: carried }], trace);
    });
  }

  sweep(): Promise<void> {
    this.#sweeping ??= this.#during(async () => {
      const suspects = await this.#takeTurn(async () => this.#orphans.forSweep(this.#copy.ledger));
      if (suspects.length === 0) return;
      const commands = await this.#orphans.resolve(suspects);
      if (commands.length > 0) await this.#takeTurn(() => this.#conclude(commands));
    }).finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  resolve(event: string): Promise<void> {
    return this.#during(async () => {
      const place = await this.#takeTurn(async () => {
        await this.#copy.catchUp();
        return this.#copy.ledger.open.get(event);
      });
      if (place === undefined) return;
      const commands = await this.#orphans.resolve([suspectOf(event, place)]);
      if (commands.length > 0) await this.#takeTurn(() => this.#conclude(commands));
    });
  }

  figures(): Promise<LedgerFigures> {
    return this.#during(async () => {
      await this.settled();
      await this.sweep();
      return this.#takeTurn(async () => {
        await this.#copy.catchUp();
        const { reserved, settled, overrun, openCount: open, settledCount: spent } = this.#copy.ledger;
        return { reserved, settled, overrun, open, spent };
      });
    });
  }

  /** The events that hold places, in the order in which they reserved them. */
  holders(): Promise<readonly string[]> {
    return this.#during(async () => {
      await this.settled();
      return this.#takeTurn(async () => {
        await this.#copy.catchUp();
        return [...this.#copy.ledger.open.keys()];
      });
    });
  }

  /** A ledger that is not busy can be dropped and read again from its stream. */
  busy(): boolean {
    return this.#running || this.#queue.length > 0 || this.#underWay > 0 || !this.#settlements.isEmpty;
  }

  hasPlaces(): boolean {
    return this.#copy.ledger.open.size > 0;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, BATCH_MAX);
      try {
        await this.#takeTurn(() => this.#settleBatch(batch));
        this.#copy.checkpoint();
      } catch (error) {
        for (const waiting of batch) waiting.reject(error);
      }
    }
    this.#running = false;
  }

  async #settleBatch(batch: readonly Waiting[]): Promise<void> {
    const copy = this.#copy;
    const { commands: settlements } = this.#settlements.take();
    let isFresh = false;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const [open, late] = copy.ledger.closed ? split(batch) : [batch, []];
      const commands = open.map((waiting) => waiting.command);
      const decision = decideLedger(copy.ledger, [...commands, ...settlements], this.#deps.clock.now());
      if (!isFresh && comesToNothing(copy.ledger, commands, decision.answers)) {
        isFresh = true;
        const { revision } = copy;
        await this.#makeRoom();
        if (copy.revision !== revision) continue;
      }
      const [first] = batch;
      if (decision.events.length > 0 && first !== undefined) {
        if (!(await copy.append(decision.events, first.trace))) continue;
        this.#deps.onBatch?.(open.length);
      }
      for (const waiting of late) waiting.resolve("closed");
      for (const [index, waiting] of open.entries()) waiting.resolve(decision.answers[index] ?? REFUSED);
      return;
    }
    throw new LogUnavailable(`${this.#stream} is written by too many at once`);
  }

  #answerTo(command: LedgerCommand): Answer | "closed" {
    const { ledger } = this.#copy;
    return ledger.closed ? "closed" : (decideLedger(ledger, [command], this.#deps.clock.now()).answers[0] ?? REFUSED);
  }

  /** A refusal appends nothing, so only a read shows places that other nodes have released meanwhile. */
  async #makeRoom(): Promise<void> {
    await this.#copy.catchUp();
    const suspects = this.#orphans.whenFull(this.#copy.ledger);
    if (suspects.length > 0) await this.#conclude(await this.#orphans.resolve(suspects));
  }

  /** Each command names the reservations that it ends, so reservations made meanwhile stay. */
  async #conclude(commands: readonly LedgerCommand[]): Promise<void> {
    for (let from = 0; from < commands.length; from += BATCH_MAX) {
      const batch = commands.slice(from, from + BATCH_MAX);
      for (;;) {
        const { events } = decideLedger(this.#copy.ledger, batch, this.#deps.clock.now());
        if (events.length === 0 || (await this.#copy.append(events, NO_TRACE))) break;
      }
    }
  }

  #openTurn(): LedgerTurn {
    const due = this.#settlements.take();
    let end: (how: TurnEnd) => void = () => undefined;
    const ended = new Promise<TurnEnd>((resolve) => {
      end = resolve;
    });
    // The turn is taken now, although the promise of the turn before is followed up only later.
    this.#inTurn(async () => this.#endTurn(await ended, due)).catch(() => undefined);
    return new LedgerTurn({
      copy: this.#copy,
      nowMs: this.#deps.clock.now(),
      settlements: due.commands,
      onEnd: (how, reservations) => {
        if (how === "appended") this.#deps.onBatch?.(reservations);
        end(how);
      },
    });
  }

  async #endTurn(how: TurnEnd, due: DueSettlements): Promise<void> {
    if (how === "appended") return this.#copy.checkpoint();
    this.#settlements.putBack(due);
    if (how === "conflicted") await this.#copy.catchUp();
    // `#afterFailure` lets the ledger be read again.
    if (how === "reload") throw new LogUnavailable(`the last append to ${this.#stream} may be missing`);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#during(() => this.#takeTurn(work));
  }

  async #during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
    }
  }

  /** Work is done one at a time, because each append has to be decided on everything appended before it. */
  #takeTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#turns += 1;
    const mine = this.#turn.then(this.#loaded).then(work);
    this.#turn = mine.then(this.#afterTurn, this.#afterFailure);
    return mine;
  }

  readonly #loaded = (): Promise<void> => {
    this.#ready ??= this.#load();
    return this.#ready;
  };

  async #load(): Promise<void> {
    try {
      await this.#copy.load();
      this.#isLoaded = true;
    } catch (error) {
      this.#ready = null;
      throw error;
    }
    if (this.#copy.ledger.open.size > 0) this.#deps.later(this.sweep());
  }

  readonly #afterTurn = (): void => {
    this.#turns -= 1;
    const { open, recent, charged } = this.#copy.ledger;
    this.#deps.onSize(open.size + recent.size + charged.size + this.#orphans.size);
  };

  /** The failed append may have been written or not, so the ledger is read again. */
  readonly #afterFailure = (): void => {
    this.#ready = null;
    this.#isLoaded = false;
    this.#afterTurn();
  };
}

const comesToNothing = (ledger: Ledger, commands: readonly LedgerCommand[], answers: readonly Answer[]): boolean =>
  commands.some((command, index) => {
    if (command.type === "Reserve") return answers[index]?.granted !== true;
    return command.type !== "Charge" && !isHeld(ledger, command);
  });

/** Settlements, releases and charges, which a closed ledger still takes, and reservations, which it refuses. */
const split = (batch: readonly Waiting[]): readonly [readonly Waiting[], readonly Waiting[]] => [
  batch.filter((waiting) => waiting.command.type !== "Reserve"),
  batch.filter((waiting) => waiting.command.type === "Reserve"),
];
