import { firstReads, HOME, queryIn } from "./for-service.ts";

/** Who is signed in, which every page asks first. */
const ME = "/v1/auth/me";

/** Bytes of the field at most, because proxies keep the head of an answer in 4 or 8 kB. */
const LINK_BYTES_MAX = 2_000;

const preload = (address: string): string => `<${address}>; rel=preload; as=fetch; crossorigin`;

/** Begins only what every page asks first. */
export const ME_LINK = preload(ME);

const searchIn = (query: Readonly<Record<string, unknown>>): URLSearchParams =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      [value].flat().map((it) => [name, String(it)] as [string, string]),
    ),
  );

export type OpenedPage = {
  /** Of the console's addresses: `/events/{id}`. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
};

const pageOf = ({ path, params }: OpenedPage): string =>
  path === "/" ? HOME : path.replace("{section}", params.section ?? "");

/** The field `Link` (RFC 8288) that makes a browser begin a page's first reads with its shell, before a script has run. */
export const linkOf = (opened: OpenedPage, role: string, now: number): string => {
  const { params, query } = opened;
  let link = ME_LINK;
  for (const address of firstReads(pageOf(opened), role, { params, query: queryIn(searchIn(query)), now })) {
    const longer = `${link}, ${preload(address)}`;
    if (longer.length > LINK_BYTES_MAX) break;
    link = longer;
  }
  return link;
};
