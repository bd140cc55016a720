import type { AuditDocument, AuditHead } from "../audit.ts";
import { closed, count, list, oneOf, optional, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

const RECORD = closed<AuditDocument>("One record of an account's audit log, to search by.", {
  account: ACCOUNT,
  index: count("0, 1, 2 … in an account, in the order of the log, without a gap."),
  stream: text("The stream that the record is in, <category>-<id>."),
  revision: count("Its revision in the stream, from 0. With the stream it names the record on every engine."),
  position: text("Its position in the log, which rises with the index and differs between engines."),
  type: text("What happened, in the past tense: EventAdmitted, MemberAdded …"),
  recorded_at: time("The time on the clock of the node that wrote it."),
  actor_kind: oneOf(["member", "key", "agent", "source", "system"], "The kind of actor that caused it."),
  actor_id: text("The id of the member, key or source, or the name of a part of the service."),
  subject: text("The subject's id: the part of the stream's name after its first dash."),
  latest: optional(
    time("The latest recorded_at of the account up to and including this record. Missing if it is the record's own."),
  ),
});

const HEAD = closed<AuditHead>("One for each account, under its id: the number of its records.", {
  count: count("The number of the account's records; their indexes run from 0 to count - 1."),
  latest: time("The latest recorded_at of them."),
  disorder_ms: count("The longest time in milliseconds by which a record was older than an earlier one."),
  categories: list(
    { type: "string" },
    "The categories (the parts before the first dash) of the account's streams, sorted.",
  ),
});

export const auditView: PublishedView = {
  view: "audit.v1",
  description:
    "Who did what, and when: one document for every record of an account except payloads. The full records are in the " +
    "log and in GET /v1/audit. Documents with an index are records, the others heads.",
  id: "For a record <account>/<index in 12 digits>, for a head the account's id.",
  documents: [RECORD, HEAD],
};
