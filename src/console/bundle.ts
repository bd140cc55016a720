import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

/** What `npm run build` made of the folder `console/`. */
const FOLDER = new URL("../../page/", import.meta.url);

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
};

/** Content codings (RFC 9110, section 8.4.1) that the build made, best first, with the endings of their files. */
const CODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

export type BundledFile = {
  readonly contentType: string;
  readonly plain: Buffer;
  /** By content coding; one that would not be smaller is left out. */
  readonly coded: ReadonlyMap<string, Buffer>;
};

const bundledFile = (name: string, there: ReadonlySet<string>): BundledFile => ({
  contentType: CONTENT_TYPES[extname(name)] ?? "application/octet-stream",
  plain: readFileSync(new URL(name, FOLDER)),
  coded: new Map(
    CODINGS.filter(([, ending]) => there.has(name + ending)).map(
      ([coding, ending]) => [coding, readFileSync(new URL(name + ending, FOLDER))] as const,
    ),
  ),
});

/** The files of the console's bundle by name: `index.html`, `components.html`, `verify.html` and everything below `assets/`. */
export const bundledFiles = (): ReadonlyMap<string, BundledFile> => {
  const names = new Set(
    readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).map((it) => it.replaceAll("\\", "/")),
  );
  const served = [...names].filter((name) => extname(name) in CONTENT_TYPES);
  return new Map(served.map((name) => [name, bundledFile(name, names)]));
};

/** An entity tag (RFC 9110, section 8.8.3) that identifies this content. */
export const etagOf = (body: Buffer): string =>
  `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;

/** What the shell's file tells the page's scripts, as it was built. */
const TOLD = {
  /** `open` if strangers may make an account. */
  "sign-up": "closed",
  /**
   * The role of the session that the request brought: what a role may not read is not asked for. `none` without a session
   * that is accepted, `unknown` if that cannot be found out.
   */
  session: "none",
} as const;

const toldAs = (name: string, content: string): string => `<meta name="${name}" content="${content}">`;

export const telling = (shell: BundledFile, name: keyof typeof TOLD, content: string): BundledFile => {
  const plain = Buffer.from(shell.plain.toString().replace(toldAs(name, TOLD[name]), toldAs(name, content)));
  let coded: ReadonlyMap<string, Buffer> | null = null;
  return {
    contentType: shell.contentType,
    plain,
    // Compressed when it is first asked for, because a start has no time for all of them.
    get coded() {
      coded ??= new Map([
        ["br", brotliCompressSync(plain)],
        ["gzip", gzipSync(plain)],
      ]);
      return coded;
    },
  };
};

/** The best coding that `Accept-Encoding` allows (RFC 9110, section 12.5.3); null for the plain bytes. */
export const codingFor = (accepted: string | undefined, { coded }: BundledFile): string | null => {
  const weights = new Map(
    (accepted ?? "").split(",").map((it) => {
      const [coding = "", ...parameters] = it.split(";").map((part) => part.trim().toLowerCase());
      const weight = parameters.find((part) => part.startsWith("q="))?.slice(2);
      return [coding, weight === undefined ? 1 : Number(weight)] as const;
    }),
  );
  const isAllowed = (coding: string): boolean => (weights.get(coding) ?? weights.get("*") ?? 0) > 0;
  return [...coded.keys()].find(isAllowed) ?? null;
};

/**
 * The browser loads nothing from elsewhere, and refuses text as markup or as a script's address (Trusted Types). The one
 * policy, named `countersign`, lets workers of this bundle start.
 */
export const CONSOLE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types countersign";
