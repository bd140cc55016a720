import { LogUnavailable } from "../log-errors.ts";

type Turn = {
  /** Calls `send` once no append that began earlier is still to be sent. Throws `LogUnavailable` if such a one has failed. */
  take<T>(send: () => Promise<T>): Promise<T>;
  /** The append is to be sent again: those that began later wait for it. */
  again(): void;
  /** The append has failed for good: those that began later and are still to be sent are not sent any more. */
  giveUp(): void;
};

export type SendOrder = { begin(): Turn };

/** Each append is sent at once, and again after its own pause. */
export const NO_ORDER: SendOrder = { begin: () => ({ take: (send) => send(), again() {}, giveUp() {} }) };

/**
 * Keeps the order of appends that are under way together when a lost connection makes them go out again: one whose
 * pause ends early could otherwise overtake one that began before it.
 */
export const sendOrder = (): SendOrder => {
  let begun = 0;
  let failed = { from: 0, to: 0 };
  /** What is still to be sent, by its number; the function tells it that its turn has come, or is null in a pause. */
  const unsent = new Map<number, (() => void) | null>();

  const first = (): number => Math.min(...unsent.keys());
  const wakeFirst = (): void => unsent.get(first())?.();

  const begin = (): Turn => {
    const number = begun;
    begun += 1;
    const leave = (): void => {
      unsent.delete(number);
      wakeFirst();
    };

    return {
      async take(send) {
        if (first() < number) await new Promise<void>((resolve) => unsent.set(number, resolve));
        if (number > failed.from && number < failed.to) {
          leave();
          throw new LogUnavailable("an append that was to be written before has failed");
        }
        unsent.delete(number);
        // Started before the next one is woken, so that it is written before.
        const sent = send();
        wakeFirst();
        return sent;
      },
      again: () => void unsent.set(number, null),
      giveUp() {
        failed = { from: number < failed.to ? Math.min(failed.from, number) : number, to: begun };
        leave();
      },
    };
  };

  return { begin };
};
