/** A promise only where something has to be waited for. */
export type OrPromise<T> = T | Promise<T>;

/** Goes on at once with a value. `await` would make a promise even of what is in memory, as most of an admission is. */
export const goOn = <A, B>(it: OrPromise<A>, next: (value: A) => OrPromise<B>): OrPromise<B> =>
  it instanceof Promise ? it.then(next) : next(it);
