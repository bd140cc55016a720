import type { GroupedOutcome } from "../../domain/ports/event-log.ts";
import { numberOf, positionOf } from "../event-log-arguments.ts";
import { REFUSED } from "../grouped-appends.ts";
import type { EventRow, EventText, Operation, Outcome } from "./event-log-writer.ts";

/**
 * Operations on their way to the writer's thread. `heads` is JSON with all that the writer decides by. `texts` has the data
 * and metadata as UTF-8, which the writer only stores: they are handed over without a copy, and are no strings there.
 */
export type OperationsMessage = { readonly heads: string; readonly texts: ArrayBuffer };

/** Sizes are bytes of `texts`, in which the events stand one after another. 0: the metadata are those of the event before. */
type EventHead = readonly [id: string, type: string, dataSize: number, metaSize: number];

const BYTES_MIN = 64 * 1024;
/** A larger buffer is handed over itself, and not kept for the next message. */
const BYTES_KEPT_MAX = 1024 * 1024;
const UTF8_BYTES_PER_UNIT_MAX = 3;
/** The bytes of longer texts are counted first, because room for three times their length would be too much. */
const UNCOUNTED_LENGTH_MAX = 64 * 1024;

const withEvents = <A, B>(operation: Operation<A>, change: (events: readonly A[]) => readonly B[]): Operation<B> => {
  switch (operation.kind) {
    case "append":
      return { ...operation, events: change(operation.events) };
    case "group":
      return { ...operation, appends: operation.appends.map((one) => ({ ...one, events: change(one.events) })) };
    case "erase":
      return operation;
  }
};

/** Collects operations for one message. Each is encoded when it comes, so that its texts need not be kept meanwhile. */
export class OperationsEncoder {
  #bytes: Buffer = Buffer.allocUnsafeSlow(BYTES_MIN);
  #length = 0;
  #heads: Operation<EventHead>[] = [];
  #meta = "";

  get count(): number {
    return this.#heads.length;
  }

  /** Returns how many bytes the operation's texts have. */
  add(operation: Operation<EventText>): number {
    const [length, meta] = [this.#length, this.#meta];
    try {
      this.#heads.push(withEvents(operation, this.#headsOf));
    } catch (error) {
      // The texts have no other marks than their sizes, so what was written of them would shift all that follow.
      this.#length = length;
      this.#meta = meta;
      throw error;
    }
    return this.#length - length;
  }

  /** The message with everything added since the last one. Its `texts` are to be transferred. */
  take(): OperationsMessage {
    const isKept = this.#bytes.length <= BYTES_KEPT_MAX;
    // A buffer that `allocUnsafeSlow` makes has an ArrayBuffer of its own. That of few texts is copied and used again,
    // because a new one for each message costs more.
    const buffer = this.#bytes.buffer as ArrayBuffer;
    const message = { heads: JSON.stringify(this.#heads), texts: isKept ? buffer.slice(0, this.#length) : buffer };
    if (!isKept) this.#bytes = Buffer.allocUnsafeSlow(BYTES_MIN);
    this.#length = 0;
    this.#heads = [];
    this.#meta = "";
    return message;
  }

  readonly #headsOf = (events: readonly EventText[]): readonly EventHead[] =>
    events.map(({ id, type, data, meta }) => {
      const dataSize = this.#write(data);
      const metaSize = meta === this.#meta ? 0 : this.#write(meta);
      this.#meta = meta;
      return [id, type, dataSize, metaSize];
    });

  #write(text: string): number {
    const room = text.length > UNCOUNTED_LENGTH_MAX ? Buffer.byteLength(text) : text.length * UTF8_BYTES_PER_UNIT_MAX;
    if (this.#length + room > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.#length + room, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    const size = this.#bytes.write(text, this.#length, "utf8");
    this.#length += size;
    return size;
  }
}

export const decodeOperations = ({ heads, texts }: OperationsMessage): readonly Operation[] => {
  let end = 0;
  const next = (size: number): Uint8Array => {
    end += size;
    return new Uint8Array(texts, end - size, size);
  };
  let meta = next(0);
  const rowsOf = (events: readonly EventHead[]): readonly EventRow[] =>
    events.map(([id, type, dataSize, metaSize]) => {
      const data = next(dataSize);
      if (metaSize > 0) meta = next(metaSize);
      return { id, type, data, meta };
    });
  // Only `OperationsEncoder` makes these messages.
  const operations = JSON.parse(heads) as readonly Operation<EventHead>[];
  return operations.map((operation) => withEvents(operation, rowsOf));
};

/** Three numbers for each append and each erasure: its code, then the revision and the position, or the actual revision. */
const NUMBERS = 3;
const APPENDED = 0;
const CONFLICT = 1;
const WAS_REFUSED = 2;
const ERASED = 3;
const ABSENT = -1;

type Single = GroupedOutcome | { readonly outcome: "erased" };

const numbersOf = (single: Single): readonly [number, number, number] => {
  switch (single.outcome) {
    case "appended":
      return [APPENDED, single.revision, numberOf(single.position)];
    case "conflict":
      return [CONFLICT, single.actual === "absent" ? ABSENT : single.actual, 0];
    case "refused":
      return [WAS_REFUSED, 0, 0];
    case "erased":
      return [ERASED, 0, 0];
  }
};

export const encodeOutcomes = (outcomes: readonly Outcome[]): Float64Array =>
  Float64Array.from(
    outcomes.flatMap((one): readonly Single[] => (one.outcome === "group" ? one.outcomes : [one])).flatMap(numbersOf),
  );

/** Reads the outcomes in the order in which they were encoded. */
export class OutcomesDecoder {
  readonly #numbers: Float64Array;
  #at = 0;

  constructor(numbers: Float64Array) {
    this.#numbers = numbers;
  }

  /** Null if the writer gave no further outcome. */
  next(): Single | null {
    const code = this.#numbers[this.#at];
    const revision = this.#numbers[this.#at + 1] ?? 0;
    const position = this.#numbers[this.#at + 2] ?? 0;
    this.#at += NUMBERS;
    switch (code) {
      case APPENDED:
        return { outcome: "appended", revision, position: positionOf(position) };
      case CONFLICT:
        return { outcome: "conflict", actual: revision === ABSENT ? "absent" : revision };
      case WAS_REFUSED:
        return REFUSED;
      case ERASED:
        return { outcome: "erased" };
      default:
        return null;
    }
  }
}
