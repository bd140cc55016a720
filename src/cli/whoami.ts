import { API_HELP, API_OPTIONS, API_SYNOPSIS, apiOf, Refusal } from "./api.ts";
import { type Command, UsageError } from "./command.ts";
import { json, table } from "./formats.ts";

type Me = {
  readonly account: { readonly id: string; readonly name: string; readonly plan: string };
  readonly member: { readonly id: string; readonly email: string; readonly role: string };
};

export const whoami: Command = {
  synopsis: API_SYNOPSIS,
  help: ["Prints who this command line is logged in as, and at which service.", ...API_HELP],
  options: API_OPTIONS,
  async run(args, env, { out }) {
    if (args.positionals.length > 0) throw new UsageError("whoami takes options only.");
    const api = apiOf(args, env);
    const me = await api.get<Me>("/v1/auth/me").catch((error: unknown) => {
      if (error instanceof Refusal && error.status === 403)
        throw new Error("This is an account's key, which is no person: countersign login makes a session.");
      throw error;
    });
    if (args.options.json === true) return out(json(me));
    const { account, member } = me;
    for (const line of table([
      ["member", `${member.email} (${member.role})`],
      ["account", `${account.name} (${account.plan})`],
      ["service", api.base],
    ]))
      out(line);
  },
};
