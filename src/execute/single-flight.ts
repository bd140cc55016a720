/** `isFirst`: this request was decided itself; else the answer is that of an equal request that was under way. */
export type Flight<T> = { readonly landed: T; readonly isFirst: boolean };

/**
 * Requests with one name at once in this process: the first one is decided, and equal ones get its answer. A request with
 * another content is decided afterwards: whether the name is used by then depends on what became of the first one.
 */
export const singleFlight = <T>(): ((id: string, asked: string, decide: () => Promise<T>) => Promise<Flight<T>>) => {
  const underWay = new Map<string, { readonly asked: string; readonly landed: Promise<T> }>();
  return async (id, asked, decide) => {
    for (let flight = underWay.get(id); flight !== undefined; flight = underWay.get(id)) {
      if (flight.asked === asked) return { landed: await flight.landed, isFirst: false };
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
