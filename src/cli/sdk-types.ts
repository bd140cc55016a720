import { writeFileSync } from "node:fs";
import { actionsModule, type ShownAction } from "../sdk-types/actions-module.ts";
import { API_HELP, API_OPTIONS, type Api, apiOf } from "./api.ts";
import { type Command, UsageError } from "./command.ts";

const PAGE = 100;
/** No account has this many pages of actions, so pages that never end come from a wrong address. */
const PAGES_MAX = 100;

type Page = { readonly data: readonly ShownAction[]; readonly next_cursor: string | null };

const isPage = (page: Partial<Page> | null): boolean =>
  Array.isArray(page?.data) &&
  page.data.every((it) => typeof it?.name === "string") &&
  (page.next_cursor === null || typeof page.next_cursor === "string");

const actionsOf = async (api: Api): Promise<readonly ShownAction[]> => {
  const actions: ShownAction[] = [];
  let cursor: string | undefined;
  for (let count = 0; count < PAGES_MAX; count += 1) {
    const page: Page = await api.get("/v1/actions", { limit: PAGE, cursor });
    if (!isPage(page)) throw new Error(`${api.origin}/v1/actions answered with something else than actions.`);
    actions.push(...page.data);
    if (page.next_cursor === null) return actions;
    cursor = page.next_cursor;
  }
  throw new Error(`${api.origin} has more than ${PAGE * PAGES_MAX} actions.`);
};

export const sdkTypes: Command = {
  synopsis: "[--out <file>] [--url <url>] [--key <key>] [--profile <name>]",
  help: [
    "Writes the TypeScript types of the account's actions, from their schemas, for the agent SDK.",
    "--out <file>  the file to write; default: standard output",
    ...API_HELP.filter((line) => !line.startsWith("--json")),
  ],
  options: { url: API_OPTIONS.url, key: API_OPTIONS.key, profile: API_OPTIONS.profile, out: { type: "string" } },
  async run(args, env, terminal) {
    const { out } = args.options;
    if (args.positionals.length > 0) throw new UsageError("sdk types takes options only.");
    const actions = await actionsOf(apiOf(args, env));
    const text = actionsModule(actions);
    if (typeof out !== "string") return terminal.out(text.trimEnd());
    writeFileSync(out, text);
    terminal.note(`${out}: ${actions.length} actions`);
  },
};
