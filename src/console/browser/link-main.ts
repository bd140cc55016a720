import { type LinkBrowser, startLinkPage } from "./link-page.ts";

// The global object of a browser is its window, which has everything that `LinkBrowser` names.
startLinkPage(globalThis as typeof globalThis & LinkBrowser);
