import { type ConsoleFile, consoleFiles, etagOf } from "../console/files.ts";
import { CONSOLE_CSP, consolePage } from "../console/page.ts";
import { notFound } from "../problems.ts";
import type { Answer, Call, Route } from "./route.ts";

const TAG = "operations";
const PAGE_HEADERS = {
  "content-security-policy": CONSOLE_CSP,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

const CONDITION = { "if-none-match": { type: "string", description: "The ETag of what is kept" } } as const;

/** Asked for again each time, and sent when it has changed. */
const answer = ({ body, contentType, etag }: ConsoleFile, { headers }: Call, more: Answer["headers"] = {}): Answer => {
  const caching = { "cache-control": "no-cache", etag, ...more };
  const kept = (headers["if-none-match"] ?? "").split(",").map((it) => it.trim().replace(/^W\//, ""));
  return kept.includes(etag)
    ? { status: 304, headers: caching }
    : { status: 200, body, headers: { "content-type": contentType, ...caching } };
};

/** The inspector: a page, its style and its modules, for whoever asks. What it shows it gets by the API. */
export const consoleRoutes = (publicUrl: () => string): readonly Route[] => {
  const files = consoleFiles();
  return [
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
        const body = Buffer.from(consolePage(publicUrl()));
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
