import { didYouMean } from "../../domain/did-you-mean.ts";
import { visibleLine } from "../../domain/visible-text.ts";
import { API_HELP, API_OPTIONS, API_SYNOPSIS, type Api, apiOf } from "./api.ts";
import { type Command, type Terminal, UsageError } from "./command.ts";
import { findSource } from "./find-named.ts";
import { json, table } from "./formats.ts";

type Capabilities = {
  readonly providers: readonly { readonly type: string; readonly sample_types?: readonly string[] }[];
};

type Provider = Capabilities["providers"][number];

type Sent = { readonly event_id: string; readonly status: string; readonly approval_id?: string };

const providersOf = async (api: Api): Promise<readonly Provider[]> =>
  (await api.get<Capabilities>("/v1/capabilities")).providers;

const typesOf = async (api: Api, provider: string): Promise<readonly string[]> =>
  (await providersOf(api)).find(({ type }) => type === provider)?.sample_types ?? [];

/** The types of every provider that has samples. */
const listAll = async (api: Api, asJson: boolean, { out }: Terminal): Promise<void> => {
  const types = (await providersOf(api)).map(({ type, sample_types = [] }) => [type, sample_types] as const);
  const sampled = types.filter(([, samples]) => samples.length > 0);
  if (asJson) return out(json(Object.fromEntries(sampled)));
  for (const line of table(sampled.flatMap(([provider, samples]) => samples.map((sample) => [provider, sample]))))
    out(line);
};

export const send: Command = {
  synopsis: `--source <name> <event type> | [--source <name>] --list ${API_SYNOPSIS}`,
  help: [
    "Sends an event as the source's provider would send it. The service makes and signs it, takes it as any",
    "other event, and marks it as a sample, which counts for neither quota nor bill. The receiver finds the",
    "header countersign-sample. The key needs the role admin.",
    "<event type>     as the provider calls it, such as payment_intent.succeeded",
    "--source <name>  the source's name or id",
    "--list           prints the event types of which there is a sample; without --source those of every provider",
    ...API_HELP.map((line) => line.replace(/ {2,}/, (gap) => `${gap}    `)),
  ],
  options: { ...API_OPTIONS, source: { type: "string" }, list: { type: "boolean" } },
  async run(args, env, terminal) {
    const { positionals, options } = args;
    const [eventType = "", ...others] = positionals;
    const isList = options.list === true;
    const isAll = isList && options.source === undefined && eventType === "";
    if (isAll) return await listAll(apiOf(args, env), options.json === true, terminal);
    if (typeof options.source !== "string" || others.length > 0 || isList === (eventType !== ""))
      throw new UsageError("send takes --source and one event type, or --list.");
    const api = apiOf(args, env);
    const source = await findSource(api, options.source);
    const types = await typesOf(api, source.type);
    if (isList) {
      if (options.json === true) return terminal.out(json(types));
      for (const type of types) terminal.out(type);
      return;
    }
    if (!types.includes(eventType)) {
      const there = `There are: ${types.join(", ")}.`;
      throw new Error(`There is no sample "${eventType}" of ${source.type}.${didYouMean(eventType, types)} ${there}`);
    }
    const { body } = await api.post<Sent>(`/v1/sources/${source.id}/sample`, { type: eventType });
    if (options.json === true) return terminal.out(json({ ...body, type: eventType, source_id: source.id }));
    terminal.out([body.event_id, body.status, eventType, `(${visibleLine(source.name)})`].join("  "));
    terminal.note(`countersign events show ${body.event_id}  shows what became of it.`);
  },
};
