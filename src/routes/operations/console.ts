import { ROLES } from "../../../domain/account/events.ts";
import type { Signup } from "../../config.ts";
import { CONSOLE_ADDRESSES } from "../../console/addresses.ts";
import { type BundledFile, bundledFiles, CONSOLE_POLICY, codingFor, etagOf, telling } from "../../console/bundle.ts";
import { linkOf, ME_LINK } from "../../console/first-reads.ts";
import { LINK_PATHS, SIGN_IN } from "../../console/for-service.ts";
import type { Authenticate } from "../../http/authenticate.ts";
import { sessionToken } from "../../http/presented-credential.ts";
import type { Answer, Call, Route } from "../../http/route.ts";
import type { UnknownPage } from "../../http/unknown-page.ts";
import { notFound } from "../../streams/problems.ts";

const TAG = "console";
const SHELL = "index.html";
const SHELL_HEADERS = {
  "content-security-policy": CONSOLE_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
};
/** The name of an asset holds the hash of its content, so it never changes. */
const ASSET_HEADERS = { "cache-control": "public, max-age=31536000, immutable" };
/**
 * The verifier is saved, not opened: its scripts are within it, which the console's policy forbids at this address, and an
 * auditor keeps the file.
 */
const VERIFIER = "verify.html";
const VERIFIER_HEADERS = { ...SHELL_HEADERS, "content-disposition": `attachment; filename="countersign-${VERIFIER}"` };
/** The one asset without a hash in its name. */
const LICENCES = "licences.txt";

const CODINGS = { "accept-encoding": { type: "string", description: "The build made `br` and `gzip`" } } as const;
const CONDITION = { "if-none-match": { type: "string", description: "The ETag of what is kept" } } as const;
const COOKIE = { cookie: { type: "string", description: "The shell says the role of its session" } } as const;

const codedFor = (file: BundledFile, acceptEncoding: string | undefined) => {
  const coding = codingFor(acceptEncoding, file);
  const kind = { "content-type": file.contentType, vary: "accept-encoding" };
  const body = coding === null ? undefined : file.coded.get(coding);
  if (coding === null || body === undefined) return { body: file.plain, headers: kind };
  return { body, headers: { ...kind, "content-encoding": coding } };
};

const coded = (file: BundledFile, { headers }: Call): Pick<Answer, "body" | "headers"> =>
  codedFor(file, headers["accept-encoding"]);

type Shell = { readonly file: BundledFile; readonly etag: string };

const shellOf = (file: BundledFile): Shell => ({ file, etag: etagOf(file.plain) });

const SESSIONS = [...ROLES, "unknown", "none"] as const;
type Session = (typeof SESSIONS)[number];
type Shells = Readonly<Record<Session, Shell>>;

const shellsOf = (built: BundledFile): Shells =>
  // `SESSIONS` has each of them.
  Object.fromEntries(SESSIONS.map((it) => [it, shellOf(telling(built, "session", it))])) as Shells;

/** Unknown if it cannot be found out: then the page asks, and says what is wrong. */
const sessionOf = async (authenticate: Authenticate, cookie: string): Promise<Session> => {
  const token = sessionToken(cookie);
  if (token === null) return "none";
  return authenticate({ kind: "session", token }).then(
    (it) => (it !== null && "role" in it ? it.role : "none"),
    () => "unknown",
  );
};

const shellRoute = (path: string, shells: Shells, authenticate: Authenticate): Route => ({
  method: "GET",
  path,
  who: "anyone",
  summary: "A page of the console",
  tag: TAG,
  anyQuery: true,
  hidden: true,
  headers: { ...CODINGS, ...CONDITION, ...COOKIE },
  answers: { 200: { type: "string" }, 304: null },
  produces: "text/html",
  async handle(call) {
    const session = await sessionOf(authenticate, call.headers.cookie ?? "");
    const { file, etag } = shells[session];
    // A proxy that compresses weakens the tag.
    const kept = (call.headers["if-none-match"] ?? "").split(",").map((it) => it.trim().replace(/^W\//, ""));
    const isKept = kept.includes(etag);
    // Who has to load the scripts as well needs the network for them first. A visitor is asked to sign in.
    const link =
      isKept && session !== "none" && path !== SIGN_IN
        ? linkOf({ path, params: call.params, query: call.query }, session, Date.parse(call.envelope.at))
        : ME_LINK;
    const begun = LINK_PATHS.includes(path) ? {} : { link };
    const headers = { ...SHELL_HEADERS, etag, ...begun, vary: "accept-encoding, cookie" };
    if (isKept) return { status: 304, headers };
    const { body, headers: own } = coded(file, call);
    return { status: 200, body, headers: { ...own, ...headers } };
  },
});

export type ConsoleBundle = {
  readonly files: ReadonlyMap<string, BundledFile>;
  readonly shell: BundledFile;
};

/** Reads the bundle, once for a service. */
export const readConsoleBundle = (signup: Signup): ConsoleBundle => {
  const files = bundledFiles();
  const built = files.get(SHELL);
  if (built === undefined) throw new Error("The console was not built: run `npm run build`.");
  return { files, shell: signup === "open" ? telling(built, "sign-up", "open") : built };
};

/** The shell says at an unknown address that there is no such page, and to a visitor only how to sign in. */
export const consolePage =
  ({ shell }: ConsoleBundle): UnknownPage =>
  (acceptEncoding) => {
    const { body, headers } = codedFor(shell, acceptEncoding);
    return { body, headers: { ...headers, ...SHELL_HEADERS, link: ME_LINK } };
  };

/** The console's shell at exactly its addresses, and the scripts, styles and fonts that it loads. All of it is public. */
export const consoleRoutes = ({ files, shell }: ConsoleBundle, authenticate: Authenticate): readonly Route[] => {
  const verifier = files.get(VERIFIER);
  if (verifier === undefined) throw new Error("The verifier's page was not built: run `npm run build`.");
  const shells = shellsOf(shell);
  return [
    ...CONSOLE_ADDRESSES.map((path) => shellRoute(path, shells, authenticate)),
    {
      method: "GET",
      path: `/${VERIFIER}`,
      who: "anyone",
      summary: "The verifier as one file, which works offline and from a disk",
      tag: TAG,
      headers: CODINGS,
      answers: { 200: { type: "string" } },
      produces: "text/html",
      async handle(call) {
        const { body, headers } = coded(verifier, call);
        return { status: 200, body, headers: { ...headers, ...VERIFIER_HEADERS } };
      },
    },
    {
      method: "GET",
      path: "/assets/{file}",
      who: "anyone",
      summary: "A script, style sheet or font of the console",
      tag: TAG,
      hidden: true,
      headers: CODINGS,
      answers: { 200: { type: "string" } },
      produces: "text/javascript",
      async handle(call) {
        const name = call.params.file ?? "";
        const file = files.get(`assets/${name}`);
        if (file === undefined) return notFound();
        const { body, headers } = coded(file, call);
        return { status: 200, body, headers: { ...headers, ...(name === LICENCES ? SHELL_HEADERS : ASSET_HEADERS) } };
      },
    },
  ];
};
