import { suite } from "uvu";
import * as assert from "uvu/assert";
import { crossSite } from "../../../src/http/cross-site.ts";

const OWN = "https://countersign.example";
const SITES = [undefined, "same-origin", "none", "same-site", "cross-site", "nonsense", "same-origin, none"];
const ORIGINS = [
  undefined,
  OWN,
  "https://evil.example",
  "null",
  `${OWN}.evil.example`,
  "http://countersign.example",
  "",
];

const headers = (site: string | undefined, origin: string | undefined) => ({
  ...(site === undefined ? {} : { "sec-fetch-site": site }),
  ...(origin === undefined ? {} : { origin }),
});
const isRefused = (method: string, site: string | undefined, origin: string | undefined, withSession: boolean) =>
  crossSite(method, headers(site, origin), withSession, OWN)?.problem === "cross-site";

const test = suite("cross-site requests");

test("with a session, an unsafe call must say that it is our own page's", () => {
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    for (const site of SITES) {
      for (const origin of ORIGINS) {
        const own = site === "same-origin" || site === "none" || origin === OWN;
        assert.is(isRefused(method, site, origin, true), !own, `${method} ${site} ${origin}`);
      }
    }
  }
});

test("without a session nothing has to be said, but what is said counts", () => {
  for (const site of SITES) {
    for (const origin of ORIGINS) {
      const silent = site === undefined && origin === undefined;
      const own = site === "same-origin" || site === "none" || origin === OWN;
      assert.is(isRefused("POST", site, origin, false), !silent && !own, `${site} ${origin}`);
    }
  }
});

test("safe methods may come from anywhere", () => {
  for (const method of ["GET", "HEAD"]) assert.is(isRefused(method, "cross-site", "https://evil.example", true), false);
});

test.run();
