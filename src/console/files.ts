import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { LINK_STYLE } from "./link-pages.ts";
import { STYLE } from "./style.ts";

export type ConsoleFile = { readonly body: Buffer; readonly contentType: string; readonly etag: string };

const BROWSER = new URL("./browser/", import.meta.url);

/** An entity tag (RFC 9110, section 8.8.3) that identifies this content. */
export const etagOf = (body: Buffer): string =>
  `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;

const file = (body: Buffer, contentType: string): ConsoleFile => ({ body, contentType, etag: etagOf(body) });

const styleSheet = (text: string): ConsoleFile => file(Buffer.from(text), "text/css; charset=utf-8");

export const consoleFiles = (): ReadonlyMap<string, ConsoleFile> => {
  const names = readdirSync(BROWSER).filter((name) => name.endsWith(".js"));
  const modules = names.map(
    (name) => [name, file(readFileSync(new URL(name, BROWSER)), "text/javascript; charset=utf-8")] as const,
  );
  return new Map([...modules, ["style.css", styleSheet(STYLE)], ["link.css", styleSheet(LINK_STYLE)]]);
};
