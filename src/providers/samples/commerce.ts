import type { JsonObject } from "../../../domain/json.ts";
import type { Moment, Samples, Unsigned } from "./moment.ts";

const SHOP = "example-shop.myshopify.com";

const shopifyEvent =
  (topic: string, payload: (moment: Moment) => JsonObject) =>
  (moment: Moment): Unsigned => ({
    headers: {
      "x-shopify-api-version": "2025-07",
      "x-shopify-event-id": moment.uuid(),
      "x-shopify-shop-domain": SHOP,
      "x-shopify-test": "true",
      "x-shopify-topic": topic,
      "x-shopify-triggered-at": moment.iso,
      "x-shopify-webhook-id": moment.uuid(),
    },
    payload: payload(moment),
  });

const shopifyOrder =
  (financial_status: string) =>
  (moment: Moment): JsonObject => ({
    id: moment.digits(13),
    name: "#1042",
    order_number: 1_042,
    created_at: moment.iso,
    currency: "EUR",
    email: "jo@example.com",
    financial_status,
    test: true,
    total_price: "24.99",
    line_items: [{ id: moment.digits(14), title: "Tea, 250 g", sku: "TEA-250", quantity: 1, price: "24.99" }],
    customer: { id: moment.digits(13), email: "jo@example.com", first_name: "Jo", last_name: "Example" },
  });

const shopifyRefund = (moment: Moment): JsonObject => ({
  id: moment.digits(12),
  order_id: moment.digits(13),
  created_at: moment.iso,
  note: "Returned",
  refund_line_items: [{ id: moment.digits(12), quantity: 1, subtotal: "24.99" }],
  transactions: [{ id: moment.digits(13), kind: "refund", amount: "24.99", currency: "EUR", status: "success" }],
});

export const shopifySamples: Samples = {
  "orders/create": shopifyEvent("orders/create", shopifyOrder("pending")),
  "orders/paid": shopifyEvent("orders/paid", shopifyOrder("paid")),
  "refunds/create": shopifyEvent("refunds/create", shopifyRefund),
};

const wooEvent =
  (topic: string, payload: (moment: Moment) => JsonObject) =>
  (moment: Moment): Unsigned => {
    const [resource = "", event = ""] = topic.split(".");
    return {
      headers: {
        "user-agent": "WooCommerce/9.8.1 Hookshot (WordPress/6.8)",
        "x-wc-webhook-delivery-id": moment.uuid().replaceAll("-", ""),
        "x-wc-webhook-event": event,
        "x-wc-webhook-id": "7",
        "x-wc-webhook-resource": resource,
        "x-wc-webhook-source": "https://shop.example.com/",
        "x-wc-webhook-topic": topic,
      },
      payload: payload(moment),
    };
  };

const wooOrder =
  (status: string) =>
  (moment: Moment): JsonObject => ({
    id: moment.digits(6),
    number: "1042",
    status,
    currency: "EUR",
    date_created_gmt: moment.iso.replace(/\..*$/, ""),
    total: "24.99",
    billing: { first_name: "Jo", last_name: "Example", email: "jo@example.com", country: "DE" },
    line_items: [{ id: 1, name: "Tea, 250 g", sku: "TEA-250", quantity: 1, total: "24.99" }],
  });

const wooProduct = (moment: Moment): JsonObject => ({
  id: moment.digits(6),
  name: "Tea, 250 g",
  sku: "TEA-250",
  status: "publish",
  price: "24.99",
  stock_quantity: 17,
});

export const woocommerceSamples: Samples = {
  "order.created": wooEvent("order.created", wooOrder("pending")),
  "order.updated": wooEvent("order.updated", wooOrder("processing")),
  "product.updated": wooEvent("product.updated", wooProduct),
};
