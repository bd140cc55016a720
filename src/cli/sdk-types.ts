import { writeFileSync } from "node:fs";
import { actionsModule, type ShownAction } from "../sdk-types/actions-module.ts";
import { isHttpUrl } from "./api.ts";
import { type Command, UsageError } from "./command.ts";

const PAGE = 100;
/** No account has more: a service whose pages never end is a wrong address. */
const PAGES_MAX = 100;
const PAGE_MS_MAX = 30_000;

type Page = { readonly data: readonly ShownAction[]; readonly next_cursor: string | null };

const isAction = (value: unknown): value is ShownAction =>
  typeof value === "object" && value !== null && "name" in value && typeof value.name === "string";

const isPage = (value: unknown): value is Page =>
  typeof value === "object" &&
  value !== null &&
  "data" in value &&
  Array.isArray(value.data) &&
  value.data.every(isAction) &&
  "next_cursor" in value &&
  (value.next_cursor === null || typeof value.next_cursor === "string");

const jsonOf = async (response: Response): Promise<unknown> => {
  try {
    return await response.json();
  } catch {
    return null;
  }
};

const pageOf = async (url: URL, key: string): Promise<Page> => {
  const headers = { accept: "application/json", authorization: `Bearer ${key}` };
  // A redirect would send the key to another address.
  const init = { headers, redirect: "manual", signal: AbortSignal.timeout(PAGE_MS_MAX) } as const;
  const response = await fetch(url, init).catch((error: Error) => {
    throw new Error(`${url.origin} cannot be reached: ${String(error.cause ?? error.message)}`);
  });
  const body = await jsonOf(response);
  if (response.ok && isPage(body)) return body;
  const detail = typeof body === "object" && body !== null && "detail" in body ? `: ${body.detail}` : "";
  throw new Error(`${url.origin}${url.pathname} answered with ${response.status}${detail}`);
};

const actionsOf = async (base: string, key: string): Promise<readonly ShownAction[]> => {
  const actions: ShownAction[] = [];
  const url = new URL(`${base.replace(/\/+$/, "")}/v1/actions?limit=${PAGE}`);
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { data, next_cursor: cursor } = await pageOf(url, key);
    actions.push(...data);
    if (cursor === null) return actions;
    url.searchParams.set("cursor", cursor);
  }
  throw new Error(`${url.origin} has more than ${PAGE * PAGES_MAX} actions.`);
};

export const sdkTypes: Command = {
  name: "sdk types",
  synopsis: "--url <url> [--key <key>] [--out <file>]",
  summary: "the TypeScript types of the account's actions, for the agent SDK",
  help: [
    "Writes the TypeScript types of the account's actions, from their schemas, for the agent SDK.",
    "--url <url>   the service, for example https://countersign.example.com",
    "--key <key>   a key of the account (csk_…); default: COUNTERSIGN_API_KEY, which other users cannot see",
    "--out <file>  the file to write; default: standard output",
  ],
  options: { url: { type: "string" }, key: { type: "string" }, out: { type: "string" } },
  async run({ positionals, options: { url, key, out } }, env, terminal) {
    if (positionals.length > 0 || typeof url !== "string" || !isHttpUrl(url))
      throw new UsageError("sdk types takes --url, an http or https URL.");
    const credential = typeof key === "string" ? key : env.COUNTERSIGN_API_KEY;
    if (credential === undefined || !/^csk_[\x21-\x7e]+$/.test(credential))
      throw new UsageError("sdk types takes a key of the account (csk_…) with --key or in COUNTERSIGN_API_KEY.");
    const actions = await actionsOf(url, credential);
    const text = actionsModule(actions);
    if (typeof out !== "string") return terminal.out(text.trimEnd());
    writeFileSync(out, text);
    terminal.note(`${out}: ${actions.length} actions`);
  },
};
