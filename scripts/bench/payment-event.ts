import { createHmac } from "node:crypto";

/** Numbers have this many digits, so that all events have the same length. */
const DIGITS = 10;
const NUMBER_AT = '{"id":"evt_'.length;
const RUN_AT = NUMBER_AT + DIGITS + 1;

const TEXT = `{"id":"evt_${"0".repeat(DIGITS)}_${"0".repeat(DIGITS)}","object":"event","api_version":"2024-06-20","created":1772366400,\
"type":"payment_intent.succeeded","livemode":false,"pending_webhooks":1,"sent_ns":1772366400000000000,\
"request":{"id":"req_1","idempotency_key":"evt_1"},"data":{"object":{"id":"pi_1",\
"object":"payment_intent","amount":4200,"amount_received":4200,"currency":"eur",\
"capture_method":"automatic","confirmation_method":"automatic","customer":"cus_Qk3N8mXtB1aZ7d",\
"description":"Order 1042, two items, shipped to Lisbon","latest_charge":"ch_3PqRsT2eZvKYlo2C",\
"metadata":{"order_id":"ord_1042","agent":"purchasing-agent-7","tenant":"acme"},\
"payment_method":"pm_1PqRsS2eZvKYlo2CbXn0","payment_method_types":["card","sepa_debit"],\
"receipt_email":"billing@example.com","status":"succeeded"}}}`;

const digits = (value: number): string => String(value).padStart(DIGITS, "0");

export const paymentEvent = (run: number, n: number): Buffer => {
  const body = Buffer.from(TEXT);
  body.write(digits(n), NUMBER_AT, "latin1");
  body.write(digits(run), RUN_AT, "latin1");
  return body;
};

export const readPaymentEvent = (body: Buffer): { readonly run: number; readonly n: number } => ({
  run: Number(body.toString("latin1", RUN_AT, RUN_AT + DIGITS)),
  n: Number(body.toString("latin1", NUMBER_AT, NUMBER_AT + DIGITS)),
});

export const signedRequests = (url: string, secret: string, run: number): ((n: number) => Buffer) => {
  const { host, pathname } = new URL(url);
  const id = `${digits(run)}-${digits(0)}`;
  const signature = "0".repeat(64);
  const length = Buffer.byteLength(TEXT);
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\nx-delivery-id: ${id}\r\nx-signature: ${signature}\r\n\r\n`;
  const template = Buffer.concat([Buffer.from(head), paymentEvent(run, 0)]);
  const bodyAt = head.length;
  const idAt = head.indexOf(id) + DIGITS + 1;
  const signatureAt = head.indexOf(signature);
  return (n) => {
    const request = Buffer.from(template);
    const number = digits(n);
    request.write(number, bodyAt + NUMBER_AT, "latin1");
    request.write(number, idAt, "latin1");
    const hex = createHmac("sha256", secret).update(request.subarray(bodyAt)).digest("hex");
    request.write(hex, signatureAt, "latin1");
    return request;
  };
};
