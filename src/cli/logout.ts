import { API_HELP, API_OPTIONS, apiWith, Refusal } from "./api.ts";
import { type Command, UsageError } from "./command.ts";
import { currentProfile, isSessionKey, removeProfile } from "./profiles.ts";

export const logout: Command = {
  synopsis: "[--profile <name>]",
  help: [
    "Ends this command line's session at the service, and removes it from the profile's file. The profile that",
    "was current before it, or the only one that is left, becomes the current one.",
    ...API_HELP.filter((line) => line.startsWith("--profile")),
  ],
  options: { profile: API_OPTIONS.profile },
  async run({ positionals, options }, env, { note }) {
    if (positionals.length > 0) throw new UsageError("logout takes --profile only.");
    const found = currentProfile(env, options.profile ?? env.COUNTERSIGN_PROFILE);
    if (found === null) return note("You are not logged in.");
    const { name, profile } = found;
    if (!isSessionKey(profile.key))
      throw new Error(`The profile "${name}" has a key and no session. countersign keys delete revokes a key.`);
    try {
      await apiWith(profile.url, profile.key).send("POST", "/v1/auth/logout");
    } catch (error) {
      // A session that has ended already needs no end. A service that is away keeps the profile, so that it is ended later.
      if (!(error instanceof Refusal) || error.status !== 401) throw error;
    }
    const next = removeProfile(env, name);
    note(`The session is over, and the profile "${name}" is removed.`);
    if (next !== null) note(`The current profile is "${next}".`);
  },
};
