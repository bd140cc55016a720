// receiver.ts, run with Node.js 22.18 or later: COUNTERSIGN_SECRETS="whsec_…" node receiver.ts 3000
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";

// After a rotation two secrets sign for a while: separate them by a space.
const { COUNTERSIGN_SECRETS = "" } = process.env;
const SECRETS = COUNTERSIGN_SECRETS.split(/\s+/)
  .map((it) => Buffer.from(it.replace("whsec_", ""), "base64"))
  .filter((key) => key.length > 0);
// Anybody can sign with an empty key.
if (SECRETS.length === 0) throw new Error("COUNTERSIGN_SECRETS holds no secret.");
// The action that undoes a step: write the name of your own compensation here.
const COMPENSATION = "order.cancel";
const TOLERANCE_S = 300;
const BODY_BYTES_MAX = 1_048_576;

const isSame = (one: Buffer, other: Buffer): boolean => one.length === other.length && timingSafeEqual(one, other);

/** The value of a header that comes once; empty if it is absent. */
const header = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name];
  return typeof value === "string" ? value : "";
};

const isGenuine = (headers: IncomingHttpHeaders, body: Buffer): boolean => {
  const id = header(headers, "webhook-id");
  const timestamp = header(headers, "webhook-timestamp");
  if (id === "" || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_S) return false;
  const expected = SECRETS.map((secret) => {
    const mac = createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body);
    return Buffer.from(`v1,${mac.digest("base64")}`);
  });
  const given = header(headers, "webhook-signature")
    .split(" ")
    .map((it) => Buffer.from(it));
  return given.some((one) => expected.some((other) => isSame(one, other)));
};

// In an application these are rows of its database, written in the transaction that does the work.
const done = new Set<string>();
const undone = new Set<string>();

type Outcome = "done" | "repeated" | "sample" | "skipped" | "undone";
type Undo = { readonly forward_webhook_id: string };

const outcomeOf = (headers: IncomingHttpHeaders, body: Buffer): Outcome => {
  const id = header(headers, "webhook-id");
  if (header(headers, "countersign-sample") === "true") return "sample";
  if (done.has(id)) return "repeated";
  if (header(headers, "countersign-action") === COMPENSATION) {
    // An agent that calls this action itself sends another body.
    const { forward_webhook_id: forward } = JSON.parse(body.toString()) as Partial<Undo>;
    if (typeof forward !== "string") throw new Error("not an undo");
    done.add(id);
    // What is undone before it has arrived must not be done later.
    undone.add(forward);
    return "undone";
  }
  done.add(id);
  return undone.has(id) ? "skipped" : "done";
};

const answer = (response: ServerResponse, status: number, outcome: string): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ outcome }));
};

createServer((request, response) => {
  const chunks: Buffer[] = [];
  let length = 0;
  request.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= BODY_BYTES_MAX) chunks.push(chunk);
  });
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    if (length > BODY_BYTES_MAX) return answer(response, 413, "too large");
    if (!isGenuine(request.headers, body)) return answer(response, 401, "refused");
    try {
      answer(response, 200, outcomeOf(request.headers, body));
    } catch {
      answer(response, 400, "not an undo");
    }
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
