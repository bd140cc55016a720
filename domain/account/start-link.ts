import { accept, type Decider, reject } from "../decider.ts";

/** Stream `start-links`: links for one use, with which the first account of an installation is opened. */
export type StartLinkEvent =
  | { readonly type: "StartLinkMade"; readonly data: { mac: string; expires_at: string; at: string } }
  | { readonly type: "StartLinkUsed"; readonly data: { mac: string; account: string; member: string; at: string } };

export type StartLinkCommand =
  | { readonly type: "MakeStartLink"; readonly mac: string; readonly expires_at: string; readonly at: string }
  | {
      readonly type: "UseStartLink";
      readonly mac: string;
      readonly account: string;
      readonly member: string;
      readonly at: string;
    };

export type StartLink = { readonly mac: string; readonly expires_at: string };

/** Each start of each node prints a link. The newest links stay valid until one of them is used, which ends all. */
const OPEN_MAX = 20;

export const startLinks: Decider<readonly StartLink[], StartLinkCommand, StartLinkEvent, "link-gone"> = {
  initial: [],

  evolve(open, { type, data }) {
    if (type === "StartLinkUsed") return [];
    const { mac, expires_at } = data;
    return [...open, { mac, expires_at }].slice(-OPEN_MAX);
  },

  decide(command, open) {
    if (command.type === "MakeStartLink") {
      const { mac, expires_at, at } = command;
      return accept({ type: "StartLinkMade", data: { mac, expires_at, at } });
    }
    const { mac, account, member, at } = command;
    if (!open.some((link) => link.mac === mac && link.expires_at > at)) return reject("link-gone");
    return accept({ type: "StartLinkUsed", data: { mac, account, member, at } });
  },
};
