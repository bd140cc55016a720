import type { BrowserTab } from "./browser.ts";
import { until } from "./program.ts";

/** A page of the console that stays as it is, whoever is signed in. */
const QUIET = "/start";

/** Signs in within the page, as the form does, and opens a path of the console. */
export const openSignedIn = async (
  page: BrowserTab,
  origin: string,
  { who, path }: { readonly who: { readonly email: string; readonly password: string }; readonly path: string },
): Promise<void> => {
  await page.open(origin + QUIET);
  await page.evaluate(`(() => {
    globalThis.isIn = false;
    const headers = { "content-type": "application/json" };
    void fetch("/v1/auth/login", { method: "POST", headers, body: ${JSON.stringify(JSON.stringify(who))} })
      .then(({ ok }) => { globalThis.isIn = ok; });
  })()`);
  await until("the session is there", () => page.evaluate<boolean>("globalThis.isIn"));
  await page.open(origin + path);
};
