import type { DayRequest, Reservation, Reserving, StreamRequest } from "../ledgers/ledgers.ts";
import type { Trace } from "../streams/envelope.ts";

export type LedgerAsk =
  | { readonly ask: "day"; readonly request: DayRequest }
  | { readonly ask: "places"; readonly request: StreamRequest }
  | { readonly ask: "release"; readonly reservation: Reservation; readonly trace: Trace };

/**
 * Gates that need places yield what they ask of the ledgers, one question after another. So the same gates serve a
 * single request, whose every answer waits for the log, and a group that is decided at once.
 */
export type Asking<T> = Generator<LedgerAsk, T, Reservation | null>;

/** What a question for places has yielded. */
export const answered = (reservation: Reservation | null): Reservation => {
  if (reservation === null) throw new Error("a question for places was not answered");
  return reservation;
};

export function* giveBack(reservations: readonly Reservation[], trace: Trace): Asking<void> {
  for (const reservation of reservations) yield { ask: "release", reservation, trace };
}

const answerTo = async (ledgers: Reserving, asked: LedgerAsk): Promise<Reservation | null> => {
  if (asked.ask === "day") return ledgers.reserveDay(asked.request);
  if (asked.ask === "places") return ledgers.reserve(asked.request);
  await ledgers.release(asked.reservation, asked.trace);
  return null;
};

export const askLedgers = async <T>(asking: Asking<T>, ledgers: Reserving): Promise<T> => {
  let step = asking.next(null);
  while (step.done !== true) step = asking.next(await answerTo(ledgers, step.value));
  return step.value;
};
