/** `isFirst` is false if the result is that of an equal call that was already under way. */
export type Flight<T> = { readonly landed: T; readonly isFirst: boolean };

/** Calls with one id that are not equal take turns, because the first determines whether the id is used. */
export const singleFlight = <Asked, T>(isSame: (a: Asked, b: Asked) => boolean = Object.is) => {
  const underWay = new Map<string, { readonly asked: Asked; readonly landed: Promise<T> }>();
  return async (id: string, asked: Asked, decide: () => Promise<T>): Promise<Flight<T>> => {
    for (let flight = underWay.get(id); flight !== undefined; flight = underWay.get(id)) {
      if (isSame(flight.asked, asked)) return { landed: await flight.landed, isFirst: false };
      await flight.landed.catch(() => undefined);
    }
    const landed = decide();
    underWay.set(id, { asked, landed });
    try {
      return { landed: await landed, isFirst: true };
    } finally {
      underWay.delete(id);
    }
  };
};
