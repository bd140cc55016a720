import type { JsonObject } from "../../../domain/json.ts";
import type { Moment, Samples, Unsigned } from "./moment.ts";

const slackEvent =
  (event: (moment: Moment) => JsonObject) =>
  (moment: Moment): Unsigned => ({
    headers: { "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)" },
    payload: {
      type: "event_callback",
      team_id: `T${moment.id(10).toUpperCase()}`,
      api_app_id: `A${moment.id(10).toUpperCase()}`,
      event: event(moment),
      event_id: `Ev${moment.id(10).toUpperCase()}`,
      event_time: moment.seconds,
    },
  });

const slackMessage =
  (type: string, text: string) =>
  (moment: Moment): JsonObject => ({
    type,
    channel: `C${moment.id(10).toUpperCase()}`,
    user: `U${moment.id(10).toUpperCase()}`,
    text,
    ts: `${moment.seconds}.000100`,
    event_ts: `${moment.seconds}.000100`,
  });

const slackReaction = (moment: Moment): JsonObject => ({
  type: "reaction_added",
  user: `U${moment.id(10).toUpperCase()}`,
  reaction: "white_check_mark",
  item: { type: "message", channel: `C${moment.id(10).toUpperCase()}`, ts: `${moment.seconds - 60}.000100` },
  event_ts: `${moment.seconds}.000200`,
});

export const slackSamples: Samples = {
  message: slackEvent(slackMessage("message", "The order 1042 has not arrived.")),
  app_mention: slackEvent(slackMessage("app_mention", "<@U0SHOPBOT1> where is order 1042?")),
  reaction_added: slackEvent(slackReaction),
};

const plainEvent =
  (type: string, data: (moment: Moment) => JsonObject) =>
  (moment: Moment): Unsigned => ({ payload: { type, timestamp: moment.iso, data: data(moment) } });

const user = (moment: Moment): JsonObject => ({
  id: `usr_${moment.id(16)}`,
  email: "jo@example.com",
  name: "Jo Example",
});

const paidInvoice = (moment: Moment): JsonObject => ({
  id: `inv_${moment.id(16)}`,
  amount: 2_499,
  currency: "EUR",
  customer_id: `usr_${moment.id(16)}`,
});

const order =
  (status: string) =>
  (moment: Moment): JsonObject => ({
    id: `ord_${moment.id(16)}`,
    status,
    amount: 2_499,
    currency: "EUR",
    customer: { id: `usr_${moment.id(16)}`, email: "jo@example.com" },
  });

export const standardSamples: Samples = {
  "user.created": plainEvent("user.created", user),
  "invoice.paid": plainEvent("invoice.paid", paidInvoice),
};

export const ownSamples: Samples = {
  "order.created": plainEvent("order.created", order("created")),
  "order.refunded": plainEvent("order.refunded", order("refunded")),
};
