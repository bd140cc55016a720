import { type Api, apiOf, isPerson, type Query } from "./api.ts";
import { type Arguments, type Env, type Terminal, UsageError } from "./command.ts";
import { textOf, timeOf } from "./event-filter.ts";
import { withIds } from "./find-named.ts";
import { json, nameCell, printLines, tonedTable } from "./formats.ts";
import { cellOf, fieldOf, type Row } from "./resource-rows.ts";
import type { Resource } from "./resources.ts";

type Page = { readonly data: readonly Row[]; readonly next_cursor: string | null };

/** The most that the API answers at once, and what it answers if nothing is said. */
const PAGE_MAX = 100;
const PAGE = 50;

type Listed = { readonly api: Api; readonly resource: Resource; readonly query: Query };

/** The first field of a column that is not null. */
const firstValueIn = (row: Row, column: string): unknown =>
  column
    .split("|")
    .map((name) => fieldOf(row, name))
    .find((value) => value !== null && value !== undefined);

const printPages = async ({ api, resource, query }: Listed, { options }: Arguments, terminal: Terminal) => {
  const { out, note } = terminal;
  let cursor = textOf(options.cursor);
  for (let pages = 1; ; pages += 1) {
    const page: Page = await api.get(resource.path, { ...query, cursor });
    const { data, next_cursor: next } = page;
    if (options.json === true) out(json(page));
    else if (pages === 1 && data.length === 0) note(`There are no ${resource.name}.`);
    else {
      const head =
        pages === 1 ? [resource.columns.map((column) => nameCell((column.split("|")[0] ?? column).toUpperCase()))] : [];
      const rows = data.map((row) => resource.columns.map((name) => cellOf(name, firstValueIn(row, name))));
      printLines(terminal, tonedTable([...head, ...rows]));
    }
    if (next === null) return;
    if (options.all !== true) {
      if (options.json !== true) note(`There are more: --all, or --cursor ${next}`);
      return;
    }
    cursor = next;
  }
};

const limitOf = (options: Arguments["options"]): number => {
  if (options.all === true && options.limit === undefined) return PAGE_MAX;
  const limit = Number(options.limit ?? PAGE);
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX)
    throw new UsageError(`--limit is a number from 1 to ${PAGE_MAX}; --all lists all.`);
  return limit;
};

/** The option of a filter: the parameter `source_id` is `--source`. */
export const optionOf = (filter: string): string => filter.replace("_id", "");

const queryOf = ({ filters = [] }: Resource, { options }: Arguments): Query => {
  const nowMs = Date.now();
  const of = (filter: string) => {
    const value = options[optionOf(filter)];
    return filter === "from" || filter === "to" ? timeOf(filter, value, nowMs) : textOf(value);
  };
  return { limit: limitOf(options), ...Object.fromEntries(filters.map((filter) => [filter, of(filter)])) };
};

export const listResource = async (
  resource: Resource,
  args: Arguments,
  env: Env,
  terminal: Terminal,
): Promise<void> => {
  if (args.positionals.length > 0) throw new UsageError(`${resource.name} list takes options only.`);
  const api = apiOf(args, env);
  if (args.options.for === "me" && !isPerson(args, env))
    throw new UsageError("--for me needs a person: countersign login. Nothing waits for a key.");
  const query = await withIds(api, queryOf(resource, args));
  await printPages({ api, resource, query }, args, terminal);
};
