import type { Reaction } from "../following/reaction.ts";
import { CONTENTS } from "./contents.ts";
import { type NotificationSenderDeps, notificationSender } from "./notification-sender.ts";
import { type SubscribersDeps, subscribers } from "./subscribers.ts";

export type NotificationReactionsDeps = SubscribersDeps & NotificationSenderDeps;

/** These reactions have a follower of their own: they wait for a view, and approvals must not wait with them. */
export const notificationReactions = (deps: NotificationReactionsDeps): readonly Reaction[] => {
  const subscribed = subscribers(deps);
  const send = notificationSender(deps);
  return [...CONTENTS].map(([on, contentOf]) => ({
    on,
    async run(record) {
      const content = await contentOf(record, deps.aggregates);
      if (content === null) return;
      const { account, recorded_at: timestamp } = record.meta;
      const { about, ...what } = content;
      const endpointIds = await subscribed(account, what.type, record.position);
      if ("waitsFor" in endpointIds) return endpointIds;
      for (const endpointId of endpointIds) {
        if (endpointId !== about) await send({ ...what, timestamp }, record, endpointId);
      }
    },
  }));
};
