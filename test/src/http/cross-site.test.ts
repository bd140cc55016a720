import { suite } from "uvu";
import * as assert from "uvu/assert";
import { crossSite, type Protected } from "../../../src/http/cross-site.ts";

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
const isRefused = (method: string, site: string | undefined, origin: string | undefined, who: Protected) =>
  crossSite(method, headers(site, origin), who, OWN)?.problem === "cross-site";

const test = suite("cross-site requests");

const isOwn = (site: string | undefined, origin: string | undefined): boolean =>
  origin === undefined ? site === "same-origin" || site === "none" : origin === OWN;

test("with a session, an unsafe call must say that it is our own page's: by its Origin, or by its site where it has none", () => {
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    for (const site of SITES) {
      for (const origin of ORIGINS) {
        assert.is(isRefused(method, site, origin, "session"), !isOwn(site, origin), `${method} ${site} ${origin}`);
      }
    }
  }
});

test("a visitor needs no origin, but a foreign origin is refused", () => {
  for (const site of SITES) {
    for (const origin of ORIGINS) {
      const silent = site === undefined && origin === undefined;
      assert.is(isRefused("POST", site, origin, "visitor"), !silent && !isOwn(site, origin), `${site} ${origin}`);
    }
  }
});

test("localhost, 127.0.0.1 and [::1] are one where PUBLIC_URL says localhost, on its port alone", () => {
  const isTaken = (origin: string, publicUrl: string) =>
    crossSite("POST", headers("same-origin", origin), "session", publicUrl) === null;
  for (const origin of ["http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080"]) {
    assert.is(isTaken(origin, "http://localhost:8080"), true, origin);
    assert.is(isTaken(origin, "http://localhost:8081/path"), false, origin);
    assert.is(isTaken(origin, "https://localhost:8080"), false, origin);
    assert.is(isTaken(origin, OWN), false, origin);
  }
  assert.is(isTaken("http://127.0.0.1", "http://localhost:80"), true);
  assert.is(isTaken("http://localhost:8080", "http://127.0.0.1:8080"), false);
});

test("safe methods may come from anywhere", () => {
  for (const method of ["GET", "HEAD"])
    assert.is(isRefused(method, "cross-site", "https://evil.example", "session"), false);
});

test.run();
