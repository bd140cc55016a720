import type { AuditDocument, AuditHead } from "../audit.ts";
import { closed, count, list, oneOf, optional, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

const RECORD = closed<AuditDocument>("One record of an account's audit log, to search by.", {
  account: ACCOUNT,
  index: count("0, 1, 2 … in an account, in the order of the log, without a gap."),
  stream: text("The stream that the record is in, <category>-<id>."),
  revision: count("Its place in the stream, from 0. With the stream it names the record on every engine."),
  position: text("Its place in the log: rises with the index, and differs from engine to engine."),
  type: text("What happened, in the past tense: EventAdmitted, MemberAdded …"),
  recorded_at: time("When the node that wrote it said it was."),
  actor_kind: oneOf(["member", "key", "agent", "source", "system"], "What kind of actor caused it."),
  actor_id: text("The id of the actor: of a member, a key, a source, or the name of a part of the service."),
  subject: text("What the record is about: the id behind the stream's first dash."),
  latest: optional(
    time("The latest recorded_at of the account up to and with this record. Missing where it is the record's own."),
  ),
});

const HEAD = closed<AuditHead>("One an account, under the account's id: how many records there are.", {
  count: count("How many records the account has: their indexes run from 0 to count - 1."),
  latest: time("The latest recorded_at of them."),
  disorder_ms: count("How far a record's time ever was behind that of one before it, in milliseconds."),
  categories: list(
    { type: "string" },
    "What stands before the first dash in the names of the account's streams, sorted.",
  ),
});

export const auditView: PublishedView = {
  view: "audit.v1",
  description:
    "Who did what, and when: one document for every record of an account but those that hold payloads. What a record " +
    "says in full is in the log and in GET /v1/audit; the documents with an index are the records, the others the heads.",
  id: "Of a record <account>/<index in 12 digits>, of a head the account's id.",
  documents: [RECORD, HEAD],
};
