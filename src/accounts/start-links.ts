import { startLinks as decider, type StartLink } from "../../domain/account/start-link.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { type Envelope, systemEnvelope } from "../streams/envelope.ts";
import { isStartToken, LINK_LIFETIME_MS, type Links } from "./links.ts";

/** One stream for the installation, because there is no account yet that it could belong to. */
const STREAM = "start-links";
/** If there is such a record, it is one of the first in the log, so that the search ends at once. */
const ACCOUNT_OPENED = "AccountOpened";

export type StartLinksDeps = {
  readonly log: Pick<EventLog, "readTypes">;
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly links: Links;
  readonly clock: Clock;
  readonly randomness: Randomness;
};

/** A start link creates the first account of an installation whose sign-up is closed. */
export type StartLinks = {
  /** The link's token; null if an account exists already. */
  make(): Promise<string | null>;
  /** Null for an invalid link, and if an account exists already. */
  opened(token: string, at: string): Promise<StartLink | null>;
  /** False if another caller used the link first. */
  use(link: StartLink, by: { readonly account: string; readonly member: string }, envelope: Envelope): Promise<boolean>;
};

export const startLinks = ({ log, aggregates, links, clock, randomness }: StartLinksDeps): StartLinks => {
  const hasAccount = async (): Promise<boolean> => {
    for (let after: Position | null = null; ; ) {
      const { events, upTo } = await log.readTypes([ACCOUNT_OPENED], after, 1);
      if (events.length > 0 || upTo === null) return events.length > 0;
      after = upTo;
    }
  };

  return {
    async make() {
      if (await hasAccount()) return null;
      const now = clock.now();
      const at = new Date(now).toISOString();
      const expires_at = new Date(now + LINK_LIFETIME_MS.start).toISOString();
      const token = links.secret();
      const mac = links.mac("start", token, [expires_at]);
      await aggregates.handle(
        decider,
        STREAM,
        { type: "MakeStartLink", mac, expires_at, at },
        systemEnvelope({ actor: "start", commandId: randomId("cmd_", randomness), at }),
      );
      return token;
    },

    async opened(token, at) {
      if (!isStartToken(token)) return null;
      const { state } = await aggregates.load(decider, STREAM, 0);
      const fits = ({ mac, expires_at }: StartLink): boolean =>
        expires_at > at && links.matches("start", token, [expires_at], mac);
      const link = state.find(fits);
      return link === undefined || (await hasAccount()) ? null : link;
    },

    async use({ mac }, by, envelope) {
      const command = { type: "UseStartLink", mac, ...by, at: envelope.at } as const;
      const used = await aggregates.handle(decider, STREAM, command, {
        ...envelope,
        commandId: `start-${envelope.commandId}`,
      });
      return used.outcome === "accepted";
    },
  };
};
