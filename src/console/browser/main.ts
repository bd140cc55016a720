import type { Browser } from "./browser.ts";
import { start } from "./console.ts";

// The global object of a browser is its window, which has everything that `Browser` names.
await start(globalThis as typeof globalThis & Browser);
