import { isUtf8 } from "node:buffer";
import { defined } from "../../../domain/defined.ts";
import { visibleText } from "../../../domain/visible-text.ts";
import { signedHeaders } from "../../../infra/http/standard-webhooks.ts";
import { invalid } from "../../http/listing.ts";
import type { JsonSchema } from "../../http/route.ts";
import type { Problem } from "../../streams/problems.ts";
import type { VisiblePayload } from "./event-payload.ts";

/** The command's default receiver: a program under development usually listens there. */
const RECEIVER = "http://localhost:3000/";
const URL_LENGTH_MAX = 2_048;
/** A longer body does not stand in the command, which fetches it into a file first. */
const INLINE_BYTES_MAX = 16 * 1_024;
/** A secret known to everybody, to try receivers on a developer's machine: 32 bytes in base64 (Standard Webhooks). */
const TEST_SECRET = `whsec_${Buffer.from("countersign, for local tests only").subarray(0, 32).toString("base64")}`;
/** Headers of the last attempt that are not repeated: curl sets them itself, or they are computed anew. */
const MADE = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "webhook-signature",
  "webhook-timestamp",
  "content-digest",
  "signature-input",
  "signature",
]);

export const CURL_QUERY: Readonly<Record<string, JsonSchema>> = {
  to: {
    type: "string",
    maxLength: URL_LENGTH_MAX,
    default: RECEIVER,
    description: "The address of the receiver, with http or https",
  },
};

export const receiverOf = ({ to = RECEIVER }: Readonly<Record<string, unknown>>): string | Problem => {
  const url = typeof to === "string" && URL.canParse(to) ? new URL(to) : null;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url.href;
  return invalid("to", "must be an address with http or https, such as http://localhost:3000/webhooks");
};

/** Quotes text as one word of a POSIX shell (IEEE 1003.1, Shell Command Language, section 2.2.2). */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** False if the text has control or invisible characters, which a terminal could take for keys when it is pasted. */
const isPlain = (text: string): boolean => !/[^\P{C}\n\t]/u.test(text) && visibleText(text) === text;

export type Repeat = {
  readonly id: string;
  readonly payload: VisiblePayload;
  /** The headers of the last attempt, in which secrets are redacted; empty if nothing was sent yet. */
  readonly sent: Readonly<Record<string, string>>;
  readonly to: string;
  readonly publicUrl: string;
  readonly at: string;
};

const headersOf = ({ id, payload, sent, at }: Repeat): readonly (readonly [string, string])[] => {
  const { contentType, contentEncoding = "" } = payload;
  const own = defined({ "content-type": contentType || undefined, "content-encoding": contentEncoding || undefined });
  const kept = { ...own, ...sent };
  const plain = Object.entries(kept).filter(
    ([name, value]) => !MADE.has(name) && isPlain(name + value) && !value.includes("\n"),
  );
  const headers = {
    ...Object.fromEntries(plain),
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(Date.parse(at) / 1_000)),
  };
  return Object.entries({ ...headers, ...signedHeaders([TEST_SECRET], headers, payload.body, "test") });
};

const EXPLAINED = [
  `# The signatures (Standard Webhooks, and RFC 9421) were made just now with the test secret`,
  `#   ${TEST_SECRET}`,
  `# as the endpoint's own secret is shown to nobody: give your receiver this one while you test.`,
];

/** Makes a command for a POSIX shell that sends the event to another receiver; it ends with a line feed. */
export const curlCommand = (repeat: Repeat): string => {
  const { id, payload, to, publicUrl } = repeat;
  const { body, isRedacted } = payload;
  const text = body.length <= INLINE_BYTES_MAX && isUtf8(body) ? body.toString("utf8") : null;
  const isInline = text !== null && isPlain(text);
  const headers = headersOf(repeat);
  const hidden = headers.some(([, value]) => value === "[redacted]");
  // If no type is given, curl sends that of a form; a header without a value removes it (curl's manual, `--header`).
  const untyped = headers.some(([name]) => name === "content-type") ? [] : ["  --header 'content-type:' \\"];
  // `--data` would drop the body's line feeds (curl's manual).
  const data = isInline ? `--data-raw ${quoted(text)}` : `--data-binary @${id}.body`;
  return [
    `# Repeats the delivery of ${id} to a receiver of yours.`,
    ...EXPLAINED,
    ...(hidden ? ["# Headers of the endpoint's own are not shown: put your values where it says [redacted]."] : []),
    ...(isRedacted
      ? ["# The policy hides fields of this payload from you: the body is not the one that was delivered."]
      : []),
    ...(isInline
      ? []
      : [
          "# The body is fetched first, with an API key of yours.",
          `curl --globoff --fail --silent --show-error --output ${id}.body \\`,
          `  --header "Authorization: Bearer $COUNTERSIGN_API_KEY" \\`,
          `  ${quoted(`${publicUrl}/v1/events/${id}/payload`)}`,
        ]),
    `curl --globoff --include --request POST ${quoted(to)} \\`,
    ...headers.map(([name, value]) => `  --header ${quoted(`${name}: ${value}`)} \\`),
    ...untyped,
    `  ${data}`,
    "",
  ].join("\n");
};
