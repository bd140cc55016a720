import type { Browser } from "./browser.ts";
import { start } from "./console.ts";

// In a browser the global object is the window, which has everything in `Browser`.
await start(globalThis as typeof globalThis & Browser);
