/** What every page is given: the placeholders of its path, and the query of its address. */
export type PageProps = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
};
