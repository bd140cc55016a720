import type { CommandEntry } from "./command.ts";
import { type Act, RESOURCES, type Resource } from "./resources.ts";

const SUMMARIES: Readonly<Record<Act, (resource: Resource) => string>> = {
  list: ({ name }) => `the account's ${name}, the newest first`,
  show: ({ one }) => `one ${one}, with all that the API tells of it`,
  create: ({ one, createPath }) => (createPath === undefined ? `makes a new ${one}` : `invites a new ${one}`),
  update: ({ one, update }) => (update === "PUT" ? `replaces the settings of one ${one}` : `changes one ${one}`),
  delete: ({ one }) => `removes one ${one}`,
};

export const resourceCommands: readonly CommandEntry[] = RESOURCES.flatMap((resource) =>
  resource.acts.map((act) => ({
    name: `${resource.name} ${act}`,
    summary: SUMMARIES[act](resource),
    ...(resource.acts.length === 1 ? {} : { group: `${resource.acts.join(", ")}: the account's ${resource.name}` }),
    load: async () => (await import("./resource-command.ts")).resourceCommand(resource, act),
  })),
);
