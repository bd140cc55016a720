import type { DedupeRule, HmacAuth } from "../../domain/source/events.ts";
import type { SourceDocument } from "../sources.ts";
import { closed, oneOf, optional, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

const TYPES: readonly SourceDocument["type"][] = [
  "stripe",
  "github",
  "shopify",
  "gitlab",
  "bitbucket",
  "woocommerce",
  "square",
  "paddle",
  "adyen",
  "slack",
  "standard-webhooks",
  "hmac",
  "bearer",
];

const AUTH = closed<HmacAuth>("How a source of the type hmac signs.", {
  header: text("The header that carries the signature."),
  algorithm: oneOf(["sha256", "sha512"], "The hash of the HMAC."),
  encoding: oneOf(["hex", "base64"], "How the signature is written."),
  prefix: optional(text("The text before the signature in the header. Missing: none.")),
  timestamp_header: optional(text("The header with the signed time. Missing: only the body is signed.")),
});

type Header = Extract<DedupeRule, { readonly header: string }>;
type Pointer = Extract<DedupeRule, { readonly pointer: string }>;

const DEDUPE = {
  description: "Where the delivery id is, by which a repeat is recognised.",
  oneOf: [
    closed<Header>("In a header.", { header: text("The header's name.") }),
    closed<Pointer>("In the body.", { pointer: text("A JSON Pointer into the body.") }),
  ],
};

export const sourcesView: PublishedView = {
  view: "sources.v1",
  description: "The senders of webhooks, without secrets. A deleted source is only in the audit log.",
  id: "The source's id, src_….",
  documents: [
    closed<SourceDocument>("A source.", {
      account: ACCOUNT,
      type: oneOf(TYPES, "The provider, which determines how webhooks are verified."),
      name: text("Its name."),
      policy_id: orNull(text("The policy that its events are checked against."), "none."),
      endpoint_id: orNull(text("The endpoint that its events are delivered to."), "its events are only recorded."),
      status: oneOf(["active", "paused"], "A paused source refuses requests."),
      auth: orNull(AUTH, "the type determines it."),
      dedupe: orNull(DEDUPE, "the type determines it."),
      created_at: time("When it was registered."),
    }),
  ],
};
