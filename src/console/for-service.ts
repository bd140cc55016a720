/** What `npm run build` made of `console/src/shell/for-service.ts`: the service and the page's scripts run the same code. */
const BUILT = new URL("../../page-server/for-service.js", import.meta.url);

type Built = {
  readonly HOME: string;
  readonly LINK_PATHS: readonly string[];
  readonly SIGN_IN: string;
  queryIn(search: URLSearchParams): Readonly<Record<string, string>>;
  firstReads(
    path: string,
    role: string,
    opened: {
      readonly params: Readonly<Record<string, string>>;
      readonly query: Readonly<Record<string, string>>;
      readonly now: number;
    },
  ): readonly string[];
};

// Its shape is that of the console's module; the tests of the shell ask for pages of each kind.
export const { firstReads, HOME, LINK_PATHS, queryIn, SIGN_IN } = (await import(BUILT.href)) as Built;
