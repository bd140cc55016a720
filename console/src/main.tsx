import "./early.ts";
import "../design/index.css";
import { render } from "preact";
import { drawVisibleText } from "../design/visible-nodes.ts";
import { isLinkPath } from "./shell/addresses.ts";
import { App } from "./shell/app.tsx";
import { startClock } from "./shell/clock.ts";
import { copyIsoTimes } from "./shell/copied-times.ts";
import { startZone } from "./shell/kept-offsets.ts";
import { startScheme } from "./shell/preferences.ts";
import { startRouter } from "./shell/router.ts";

drawVisibleText();
startScheme();
const start = document.getElementById("app");
const { pathname } = location;
if (start !== null && isLinkPath(pathname)) {
  /** Only the page's script reads the token, and it leaves the address before anything else is done. */
  const open = (): void => {
    const { hash } = location;
    if (hash !== "") history.replaceState(null, "", pathname);
    void import("./pages/one-time-link.tsx").then(({ default: OneTimeLink }) =>
      render(<OneTimeLink key={hash} path={pathname} token={hash.slice(1)} />, start),
    );
  };
  open();
  // A link that is pasted over this page's own address changes its fragment alone.
  addEventListener("hashchange", () => {
    if (location.hash !== "") open();
  });
} else if (start !== null) {
  startRouter();
  startClock();
  startZone();
  copyIsoTimes();
  render(<App />, start);
}
