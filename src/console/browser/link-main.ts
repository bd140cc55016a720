import { type LinkBrowser, startLinkPage } from "./link-page.ts";

// In a browser the global object is the window, which has everything in `LinkBrowser`.
startLinkPage(globalThis as typeof globalThis & LinkBrowser);
