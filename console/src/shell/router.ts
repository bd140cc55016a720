import { signal } from "@preact/signals";
import { earlyReads } from "../api/page-reads.ts";
import { addressOfOldLink, HOME, type Place, pageOf, placeOfUrl } from "./addresses.ts";

export const place = signal<Place>(placeOfUrl(new URL(location.href)));

type Scrolled = { readonly top: number };

const keepScroll = (): void => history.replaceState({ top: scrollY } satisfies Scrolled, "", location.href);

/** Where the page stood when the reader left it; a page scrolls there once its rows are drawn. */
export const scrollTarget = signal<number | null>(null);

/** Goes to an address of the console. A filter replaces the entry of the history if `isReplaced`. */
export const go = (href: string, { isReplaced = false } = {}): void => {
  keepScroll();
  if (isReplaced) history.replaceState({ top: scrollY } satisfies Scrolled, "", href);
  else history.pushState({ top: 0 } satisfies Scrolled, "", href);
  const next = placeOfUrl(new URL(location.href));
  earlyReads.end();
  const isOther = pageOf(next.path) !== pageOf(place.value.path);
  place.value = next;
  if (isOther) scrollTo(0, 0);
};

/** A plain click on a link of the console changes the page without loading it; all other clicks are the browser's. */
const onClick = (event: MouseEvent): void => {
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!isPlain || event.defaultPrevented || link === null || link.target !== "" || link.hasAttribute("download"))
    return;
  const url = new URL(link.href);
  const isOurs =
    url.origin === location.origin && !/^\/(v1|docs|assets|openapi|public|health|status)\b/.test(url.pathname);
  if (!isOurs || (url.hash !== "" && url.pathname === location.pathname)) return;
  event.preventDefault();
  go(url.pathname + url.search);
};

export const startRouter = (): void => {
  history.scrollRestoration = "manual";
  const old = addressOfOldLink(location.hash);
  if (old !== null) history.replaceState(null, "", old);
  else if (location.pathname === "/") history.replaceState(null, "", HOME);
  place.value = placeOfUrl(new URL(location.href));
  addEventListener("click", onClick);
  addEventListener("popstate", ({ state }: PopStateEvent) => {
    // The state is what `go` has written.
    earlyReads.end();
    const top = (state as Scrolled | null)?.top ?? 0;
    const next = placeOfUrl(new URL(location.href));
    // A page that stays has its rows, and reads none that it would wait for.
    if (next.path !== place.value.path && pageOf(next.path) === pageOf(place.value.path))
      requestAnimationFrame(() => scrollTo(0, top));
    else scrollTarget.value = top;
    place.value = next;
  });
};
