import type { JsonObject } from "../../../domain/json.ts";
import type { Moment, Samples } from "./moment.ts";

type ObjectOf = (moment: Moment) => JsonObject;

const STRIPE_API = "2025-03-31.basil";

const stripeEvent =
  (type: string, object: ObjectOf) =>
  (moment: Moment): { readonly payload: JsonObject } => ({
    payload: {
      id: `evt_${moment.id()}`,
      object: "event",
      api_version: STRIPE_API,
      created: moment.seconds,
      type,
      livemode: false,
      pending_webhooks: 1,
      request: { id: `req_${moment.id(14)}`, idempotency_key: moment.uuid() },
      data: { object: object(moment) },
    },
  });

const paymentIntent =
  (status: string, more: JsonObject = {}): ObjectOf =>
  (moment) => ({
    id: `pi_${moment.id()}`,
    object: "payment_intent",
    amount: 2_499,
    amount_received: status === "succeeded" ? 2_499 : 0,
    currency: "eur",
    created: moment.seconds,
    customer: `cus_${moment.id(14)}`,
    description: "Order 1042",
    latest_charge: `ch_${moment.id()}`,
    livemode: false,
    metadata: { order_id: "1042" },
    payment_method_types: ["card"],
    receipt_email: "jo@example.com",
    status,
    ...more,
  });

const refundedCharge: ObjectOf = (moment) => ({
  id: `ch_${moment.id()}`,
  object: "charge",
  amount: 2_499,
  amount_refunded: 2_499,
  currency: "eur",
  created: moment.seconds,
  livemode: false,
  metadata: { order_id: "1042" },
  paid: true,
  payment_intent: `pi_${moment.id()}`,
  refunded: true,
  status: "succeeded",
});

const checkout: ObjectOf = (moment) => ({
  id: `cs_test_${moment.id()}`,
  object: "checkout.session",
  amount_total: 2_499,
  currency: "eur",
  created: moment.seconds,
  customer_details: { email: "jo@example.com", name: "Jo Example" },
  livemode: false,
  mode: "payment",
  payment_intent: `pi_${moment.id()}`,
  payment_status: "paid",
  status: "complete",
});

const invoice: ObjectOf = (moment) => ({
  id: `in_${moment.id()}`,
  object: "invoice",
  amount_due: 1_900,
  amount_paid: 1_900,
  currency: "eur",
  created: moment.seconds,
  customer: `cus_${moment.id(14)}`,
  livemode: false,
  number: "A1B2C3D4-0001",
  status: "paid",
});

const subscription: ObjectOf = (moment) => ({
  id: `sub_${moment.id()}`,
  object: "subscription",
  canceled_at: moment.seconds,
  created: moment.seconds,
  customer: `cus_${moment.id(14)}`,
  livemode: false,
  status: "canceled",
});

const cardError = { code: "card_declined", decline_code: "generic_decline", message: "Your card was declined." };

export const stripeSamples: Samples = {
  "payment_intent.succeeded": stripeEvent("payment_intent.succeeded", paymentIntent("succeeded")),
  "payment_intent.payment_failed": stripeEvent(
    "payment_intent.payment_failed",
    paymentIntent("requires_payment_method", { last_payment_error: cardError }),
  ),
  "charge.refunded": stripeEvent("charge.refunded", refundedCharge),
  "checkout.session.completed": stripeEvent("checkout.session.completed", checkout),
  "invoice.paid": stripeEvent("invoice.paid", invoice),
  "customer.subscription.deleted": stripeEvent("customer.subscription.deleted", subscription),
};

const squareEvent =
  (type: string, name: string, object: ObjectOf) =>
  (moment: Moment): { readonly payload: JsonObject } => {
    const held = object(moment);
    return {
      payload: {
        merchant_id: moment.id(13).toUpperCase(),
        type,
        event_id: moment.uuid(),
        created_at: moment.iso,
        data: { type: name, id: held.id ?? "", object: { [name]: held } },
      },
    };
  };

const squarePayment =
  (status: string): ObjectOf =>
  (moment) => ({
    id: moment.id(22),
    amount_money: { amount: 2_499, currency: "EUR" },
    created_at: moment.iso,
    location_id: moment.id(13).toUpperCase(),
    order_id: moment.id(22),
    source_type: "CARD",
    status,
    updated_at: moment.iso,
    version: 1,
  });

const squareRefund: ObjectOf = (moment) => ({
  id: moment.id(22),
  amount_money: { amount: 2_499, currency: "EUR" },
  created_at: moment.iso,
  payment_id: moment.id(22),
  reason: "Returned",
  status: "PENDING",
});

export const squareSamples: Samples = {
  "payment.created": squareEvent("payment.created", "payment", squarePayment("APPROVED")),
  "payment.updated": squareEvent("payment.updated", "payment", squarePayment("COMPLETED")),
  "refund.created": squareEvent("refund.created", "refund", squareRefund),
};

const paddleEvent =
  (event_type: string, data: ObjectOf) =>
  (moment: Moment): { readonly payload: JsonObject } => ({
    payload: {
      event_id: `evt_${moment.id(26)}`,
      event_type,
      occurred_at: moment.iso,
      notification_id: `ntf_${moment.id(26)}`,
      data: data(moment),
    },
  });

const paddleTransaction: ObjectOf = (moment) => ({
  id: `txn_${moment.id(26)}`,
  status: "completed",
  customer_id: `ctm_${moment.id(26)}`,
  currency_code: "EUR",
  created_at: moment.iso,
  details: { totals: { subtotal: "2100", tax: "399", total: "2499", currency_code: "EUR" } },
});

const paddleSubscription =
  (status: string): ObjectOf =>
  (moment) => ({
    id: `sub_${moment.id(26)}`,
    status,
    customer_id: `ctm_${moment.id(26)}`,
    currency_code: "EUR",
    created_at: moment.iso,
    billing_cycle: { interval: "month", frequency: 1 },
  });

export const paddleSamples: Samples = {
  "transaction.completed": paddleEvent("transaction.completed", paddleTransaction),
  "subscription.created": paddleEvent("subscription.created", paddleSubscription("active")),
  "subscription.canceled": paddleEvent("subscription.canceled", paddleSubscription("canceled")),
};

const adyenItem =
  (eventCode: string) =>
  (moment: Moment): { readonly payload: JsonObject } => {
    const isFirst = eventCode === "AUTHORISATION";
    return {
      payload: {
        live: "false",
        notificationItems: [
          {
            NotificationRequestItem: {
              amount: { currency: "EUR", value: 2_499 },
              eventCode,
              eventDate: moment.iso,
              merchantAccountCode: "ExampleShop",
              merchantReference: "order-1042",
              ...(isFirst ? {} : { originalReference: moment.id(16).toUpperCase() }),
              paymentMethod: "visa",
              pspReference: moment.id(16).toUpperCase(),
              reason: "",
              success: "true",
            },
          },
        ],
      },
    };
  };

export const adyenSamples: Samples = {
  AUTHORISATION: adyenItem("AUTHORISATION"),
  CAPTURE: adyenItem("CAPTURE"),
  REFUND: adyenItem("REFUND"),
};
