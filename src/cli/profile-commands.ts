import { type Command, UsageError } from "./command.ts";
import { json, table } from "./formats.ts";
import { isSessionKey, readProfiles, useProfile } from "./profiles.ts";

export const profilesList: Command = {
  synopsis: "[--json]",
  help: [
    "Prints the profiles of this command line, with their services. A * marks the current one, which is used where",
    "neither --profile nor COUNTERSIGN_PROFILE names one. Keys are not printed.",
    "--json       for scripts: JSON, one document",
  ],
  options: { json: { type: "boolean" } },
  async run({ positionals, options }, env, { out, note }) {
    if (positionals.length > 0) throw new UsageError("profiles takes no argument; profiles use takes a name.");
    const { current, profiles } = readProfiles(env);
    const listed = Object.entries(profiles).map(([name, { url, key }]) => ({
      name,
      current: name === current,
      kind: isSessionKey(key) ? "session" : "key",
      url,
    }));
    if (options.json === true) return out(json(listed));
    if (listed.length === 0) return note("There are no profiles: countersign login makes one.");
    for (const line of table(listed.map((it) => [it.current ? "*" : " ", it.name, it.kind, it.url]))) out(line);
  },
};

export const profilesUse: Command = {
  synopsis: "<name>",
  help: ["Makes a profile the current one.", "<name>     as countersign profiles prints it"],
  async run({ positionals: [name = "", ...others] }, env, { note }) {
    if (name === "" || others.length > 0) throw new UsageError("profiles use takes the name of one profile.");
    useProfile(env, name);
    note(`The current profile is "${name}".`);
  },
};
