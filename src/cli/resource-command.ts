import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { API_HELP, API_OPTIONS, API_SYNOPSIS, apiOf, type Done } from "./api.ts";
import { type Arguments, type Command, Ended, type Env, type Terminal, UsageError } from "./command.ts";
import { idOfNamed } from "./find-named.ts";
import { json, printLines } from "./formats.ts";
import { listResource, optionOf } from "./resource-list.ts";
import { fieldLines, type Row } from "./resource-rows.ts";
import type { Act, Resource } from "./resources.ts";

/** The one id or name that a command takes. */
const idOf = ({ positionals }: Arguments, call: string): string => {
  const [id = "", ...others] = positionals;
  if (id === "" || others.length > 0) throw new UsageError(`${call} takes one id or name.`);
  return id;
};

const pathOf = ({ path }: Resource, id: string): string => `${path}/${encodeURIComponent(id)}`;

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file.",
  EISDIR: "it is a folder.",
  EACCES: "you may not read it.",
};

/** The text of `--file`, where `-` is standard input. The service says what is wrong with it. */
const bodyOf = async (file: string | boolean | undefined, example: string): Promise<string> => {
  if (typeof file !== "string" || file === "")
    throw new UsageError(`This takes a JSON body with --file <path>, or from standard input with --file -: ${example}`);
  if (file !== "-")
    return readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      throw new Error(`${file} cannot be read: ${WHY[error.code ?? ""] ?? error.message}`);
    });
  if (process.stdin.isTTY)
    throw new UsageError("--file - reads standard input, which is a terminal here: pipe a body in.");
  return (await buffer(process.stdin)).toString();
};

type Answered = Done<Row | null> & { readonly words: string };

/** Prints an answer to a change, and says on stderr what a script need not know. */
const printAnswer = ({ secret }: Resource, { body, words }: Answered, options: Arguments["options"], to: Terminal) => {
  if (body === null) return options.json === true ? undefined : to.note(words);
  if (options.json === true) to.out(json(body));
  else printLines(to, fieldLines(body));
  if (secret !== undefined && typeof body[secret] === "string")
    to.note(`${secret} is shown this once: keep it where only those who need it can read it.`);
  if (body.status === "held" && typeof body.approval_id === "string")
    to.note(`The change waits for people: countersign approvals list --status pending has ${body.approval_id}.`);
};

/** Asks whether to remove it, and ends the command if not. Without a terminal nobody can be asked. */
const mustBeMeant = async ({ name, one }: Resource, id: string, { screen, note }: Terminal): Promise<void> => {
  if (screen === undefined) throw new UsageError(`Without a terminal, ${name} delete needs --yes.`);
  if (await screen.ask(`Remove the ${one} ${id}?`)) return;
  note("Nothing was removed.");
  throw new Ended(1);
};

type Run = (resource: Resource, args: Arguments, env: Env, terminal: Terminal) => Promise<void>;

const RUNS: Readonly<Record<Act, Run>> = {
  list: listResource,
  async show(resource, args, env, terminal) {
    const named = idOf(args, `${resource.name} show`);
    const api = apiOf(args, env);
    const body = await api.get<Row>(pathOf(resource, await idOfNamed(api, resource, named)));
    if (args.options.json === true) return terminal.out(json(body));
    printLines(terminal, fieldLines(body));
  },
  async create(resource, args, env, terminal) {
    if (args.positionals.length > 0) throw new UsageError(`${resource.name} create takes its body with --file.`);
    const api = apiOf(args, env);
    const text = await bodyOf(args.options.file, resource.example?.create ?? "{}");
    const { body, position } = await api.send<Row>("POST", resource.createPath ?? resource.path, text);
    printAnswer(resource, { body, position, words: "" }, args.options, terminal);
  },
  async update(resource, args, env, terminal) {
    const named = idOf(args, `${resource.name} update`);
    const api = apiOf(args, env);
    const text = await bodyOf(args.options.file, resource.example?.update ?? "{}");
    const id = await idOfNamed(api, resource, named);
    const done = await api.send<Row | null>(resource.update ?? "PATCH", pathOf(resource, id), text);
    printAnswer(resource, { ...done, words: `${id} is changed` }, args.options, terminal);
  },
  async delete(resource, args, env, terminal) {
    const named = idOf(args, `${resource.name} delete`);
    const api = apiOf(args, env);
    const id = await idOfNamed(api, resource, named);
    if (args.options.yes !== true) await mustBeMeant(resource, named, terminal);
    const done = await api.send<Row | null>("DELETE", pathOf(resource, id));
    printAnswer(resource, { ...done, words: `${id} is removed` }, args.options, terminal);
  },
};

const LIST_HELP = [
  "--limit <n>  at most so many, 1 to 100 (50); --all: every page; --cursor <cursor>: what follows a page",
];

const HELP: Readonly<Record<Act, (resource: Resource) => readonly string[]>> = {
  list: ({ name, filters = [] }) => [
    `Lists the account's ${name}, the newest first.`,
    ...(filters.length === 0 ? [] : [`Filters: ${filters.map((filter) => `--${optionOf(filter)}`).join(", ")}.`]),
    ...LIST_HELP,
  ],
  show: ({ one }) => [`Prints one ${one}. An object within it is printed as JSON.`],
  create: ({ one, example, secret }) => [
    `Makes a ${one} of a JSON body, which /docs of the service explains, such as`,
    `  ${example?.create ?? "{}"}`,
    ...(secret === undefined ? [] : [`The answer's ${secret} is a secret, and is shown this once.`]),
    "--file <path>  the body; - is standard input",
  ],
  update: ({ one, update, example }) => [
    update === "PUT"
      ? `Replaces the settings of one ${one} by a JSON body, such as`
      : `Changes what a JSON body names, such as`,
    `  ${example?.update ?? "{}"}`,
    "--file <path>  the body; - is standard input",
  ],
  delete: ({ one }) => [
    `Removes one ${one}. Asks on a terminal; a script is not asked and needs --yes.`,
    "--yes        does not ask",
  ],
};

/** What names one: an id, which is the first column of the list, or a name. */
const keyOf = ({ columns: [key = "id"], named }: Resource): string =>
  named === undefined ? `<${key}>` : `<${key}>|<${named.by}>`;

const SYNOPSIS: Readonly<Record<Act, (resource: Resource) => string>> = {
  list: ({ filters = [] }) => `[--limit <n> | --all]${filters.length === 0 ? "" : " [<filters>]"}`,
  show: keyOf,
  create: () => "--file <path>|-",
  update: (resource) => `${keyOf(resource)} --file <path>|-`,
  delete: (resource) => `${keyOf(resource)} [--yes]`,
};

const OPTIONS: Readonly<Record<Act, NonNullable<Command["options"]>>> = {
  list: { limit: { type: "string" }, all: { type: "boolean" }, cursor: { type: "string" } },
  show: {},
  create: { file: { type: "string" } },
  update: { file: { type: "string" } },
  delete: { yes: { type: "boolean", short: "y" } },
};

/** The command for one act on one resource. They differ in what the table says of the resource alone. */
export const resourceCommand = (resource: Resource, act: Act): Command => {
  const filters = act === "list" ? (resource.filters ?? []) : [];
  return {
    synopsis: `${SYNOPSIS[act](resource)} ${API_SYNOPSIS}`,
    help: [...HELP[act](resource), ...(resource.rights === undefined ? [] : [resource.rights]), ...API_HELP],
    options: {
      ...API_OPTIONS,
      ...OPTIONS[act],
      ...Object.fromEntries(filters.map((filter) => [optionOf(filter), { type: "string" } as const])),
    },
    run: (args, env, terminal) => RUNS[act](resource, args, env, terminal),
  };
};
