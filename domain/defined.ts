type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The same object without its undefined members; null, false and the order of the members stay. */
export const defined = <T extends object>(fields: T): Defined<T> => {
  const present: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name as keyof T];
    if (value !== undefined) present[name] = value;
  }
  return present as Defined<T>; // The loop has left out exactly the members that the type makes optional.
};
