import type { Signup } from "../../config.ts";
import { type ConsoleFile, consoleFiles, etagOf } from "../../console/files.ts";
import { LINK_PAGES, type LinkPageName, linkPage } from "../../console/link-pages.ts";
import { CONSOLE_CSP, consolePage } from "../../console/page.ts";
import type { Answer, Call, Route } from "../../http/route.ts";
import { notFound } from "../../streams/problems.ts";

const TAG = "operations";
const PAGE_HEADERS = {
  "content-security-policy": CONSOLE_CSP,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

const CONDITION = { "if-none-match": { type: "string", description: "The ETag of what is kept" } } as const;

/** Browsers keep the file, but ask each time by its ETag whether it has changed. */
const answer = ({ body, contentType, etag }: ConsoleFile, { headers }: Call, more: Answer["headers"] = {}): Answer => {
  const caching = { "cache-control": "no-cache", etag, ...more };
  const kept = (headers["if-none-match"] ?? "").split(",").map((it) => it.trim().replace(/^W\//, ""));
  return kept.includes(etag)
    ? { status: 304, headers: caching }
    : { status: 200, body, headers: { "content-type": contentType, ...caching } };
};

const LINK_SUMMARY: Readonly<Record<LinkPageName, string>> = {
  join: "The page where an invited person chooses a password",
  reset: "The page where a member sets a new password",
  start: "The page where the first account is made",
};

/** The page's address has a token in its fragment, so the page must not be stored, nor its address passed on. */
const linkPageRoute = (name: LinkPageName): Route => ({
  method: "GET",
  path: `/${name}`,
  who: "anyone",
  summary: LINK_SUMMARY[name],
  tag: TAG,
  answers: { 200: { type: "string" } },
  produces: "text/html",
  handle: async () => ({
    status: 200,
    body: Buffer.from(linkPage(name)),
    headers: { "content-type": "text/html; charset=utf-8", "cache-control": "no-store", ...PAGE_HEADERS },
  }),
});

/** The console's pages, style and modules, which are public; the page gets an account's data from the API. */
export const consoleRoutes = (publicUrl: () => string, signup: Signup): readonly Route[] => {
  const files = consoleFiles();
  return [
    ...LINK_PAGES.map(linkPageRoute),
    {
      method: "GET",
      path: "/",
      who: "anyone",
      summary: "The console",
      tag: TAG,
      headers: CONDITION,
      answers: { 200: { type: "string" }, 304: null },
      produces: "text/html",
      async handle(call) {
        const body = Buffer.from(consolePage(publicUrl(), signup));
        return answer({ body, contentType: "text/html; charset=utf-8", etag: etagOf(body) }, call, PAGE_HEADERS);
      },
    },
    {
      method: "GET",
      path: "/console/{file}",
      who: "anyone",
      summary: "What the console's page loads",
      tag: TAG,
      headers: CONDITION,
      answers: { 200: { type: "string" }, 304: null },
      produces: "text/javascript",
      async handle(call) {
        const file = files.get(call.params.file ?? "");
        return file === undefined ? notFound() : answer(file, call);
      },
    },
  ];
};
