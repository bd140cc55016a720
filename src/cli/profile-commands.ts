import { type Command, Ended, UsageError } from "./command.ts";
import { json, table } from "./formats.ts";
import { currentProfile, isSessionKey, readProfiles, removeProfile, useProfile } from "./profiles.ts";

export const profilesList: Command = {
  synopsis: "[--json]",
  help: [
    "Prints the profiles of this command line, with their services. A * marks the current one, which is used where",
    "neither --profile nor COUNTERSIGN_PROFILE names one. Keys are not printed.",
    "--json       for scripts: JSON, one document",
  ],
  options: { json: { type: "boolean" } },
  async run({ positionals, options }, env, { out, note }) {
    if (positionals.length > 0)
      throw new UsageError("profiles takes no argument; profiles use and profiles remove take a name.");
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

export const profilesRemove: Command = {
  synopsis: "<name> [--yes]",
  help: [
    "Removes a profile, and with it the key or the session that this command line has there, which stays valid at",
    "the service: logout ends a session, and keys delete revokes a key. Asks on a terminal; a script needs --yes.",
    "<name>     as countersign profiles prints it",
    "--yes      does not ask",
  ],
  options: { yes: { type: "boolean", short: "y" } },
  async run({ positionals: [name = "", ...others], options }, env, { note, screen }) {
    if (name === "" || others.length > 0) throw new UsageError("profiles remove takes the name of one profile.");
    // Throws, with the names that there are, unless there is such a profile.
    currentProfile(env, name);
    if (options.yes !== true) {
      if (screen === undefined) throw new UsageError("Without a terminal, profiles remove needs --yes.");
      if (!(await screen.ask(`Remove the profile "${name}" and the key in it?`))) {
        note("Nothing was removed.");
        throw new Ended(1);
      }
    }
    const next = removeProfile(env, name);
    note(
      `The profile "${name}" is removed. ${next === null ? "No profile is current." : `The current one is "${next}".`}`,
    );
  },
};
