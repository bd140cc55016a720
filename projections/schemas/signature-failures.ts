import type { SignatureFailureDocument } from "../signature-failures.ts";
import { closed, count, oneOf, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

const REASONS: readonly SignatureFailureDocument["reason"][] = [
  "missing",
  "malformed",
  "mismatch",
  "stale",
  "unknown-secret",
];

const CLIENT = closed<NonNullable<SignatureFailureDocument["client"]>>(
  "A commitment to the address and user agent of the first request, which are stored elsewhere so that they can be erased.",
  {
    id: text("per_…: GET /v1/audit shows the value under it."),
    commitment: text("Hex SHA-256 over 16 random bytes and the value."),
    size: count("The bytes of the value."),
  },
);

export const signatureFailuresView: PublishedView = {
  view: "rejections.v2",
  description:
    "Requests that sources refused because their sender was not authenticated, by source, minute and reason.",
  id: "<source>/<minute>/<reason>.",
  documents: [
    closed<SignatureFailureDocument>("One source's refusals in one minute, for one reason.", {
      account: ACCOUNT,
      source_id: text("The source, src_…."),
      minute: time("The minute's beginning."),
      reason: oneOf(REASONS, "The signature's defect."),
      count: count("The number of requests."),
      client: orNull(CLIENT, "it is unknown."),
    }),
  ],
};
