import { suite } from "uvu";
import { apiKey } from "../../../domain/account/api-key.ts";
import { emailClaim } from "../../../domain/account/email-claim.ts";
import { session } from "../../../domain/account/session.ts";
import { specFor } from "../../support/given.ts";
import { CLIENT } from "../../support/members.ts";
import { addressed } from "../../support/personal-words.ts";

const at = "2026-03-01T12:00:00.000Z";
const expires_at = "2026-03-15T12:00:00.000Z";

const email = specFor(emailClaim);
const claim = (member: string) => ({
  account: "acc_1",
  member,
  ...addressed("ana@a.example"),
  opens: null,
  password: "sealed",
  client: CLIENT,
  at,
});
const claimed = (member: string) => ({ type: "EmailClaimed", data: claim(member) }) as const;
const released = (member: string) => ({ type: "EmailReleased", data: { account: "acc_1", member, at } }) as const;
const claiming = (member: string) => ({ type: "ClaimEmail", ...claim(member) }) as const;
const releasing = (member: string) => ({ type: "ReleaseEmail", account: "acc_1", member, at }) as const;

const test = suite("email, session and key streams");

test("one address belongs to one member", () => {
  email().when(claiming("ana")).then(claimed("ana"));
  email(claimed("ana")).when(claiming("bo")).rejects("email-taken");
  email(claimed("ana")).when(claiming("ana")).thenNothing();
});
test("a released address can be claimed again", () =>
  email(claimed("ana"), released("ana")).when(claiming("bo")).then(claimed("bo")));
test("a late release does not take the address from the next member", () => {
  email(claimed("ana")).when(releasing("ana")).then(released("ana"));
  email(claimed("ana"), released("ana"), claimed("bo")).when(releasing("ana")).thenNothing();
  email().when(releasing("ana")).thenNothing();
});

const sessions = specFor(session);
const opening = {
  type: "OpenSession",
  account: "acc_1",
  member: "ana",
  epoch: 0,
  expires_at,
  mac: "00",
  client: CLIENT,
  madeBy: "browser",
  at,
} as const;
const opened = {
  type: "SessionOpened",
  data: { account: "acc_1", member: "ana", epoch: 0, expires_at, mac: "00", client: CLIENT, at },
} as const;
const closed = { type: "SessionClosed", data: { account: "acc_1", member: "ana", at } } as const;

test("a session is opened once and never again", () => {
  sessions().when(opening).then(opened);
  sessions(opened).when(opening).rejects("session-exists");
  sessions(opened, closed).when(opening).rejects("session-exists");
});
test("the record of a command line's session says so", () => {
  sessions()
    .when({ ...opening, madeBy: "command-line" })
    .then({ ...opened, data: { ...opened.data, made_by: "command-line" } });
});
test("a session that is closed twice is recorded as closed once", () => {
  sessions(opened).when({ type: "CloseSession", at }).then(closed);
  sessions(opened, closed).when({ type: "CloseSession", at }).thenNothing();
  sessions().when({ type: "CloseSession", at }).thenNothing();
});

test("a key leads to the account that it was issued for first", () => {
  const issued = { type: "ApiKeyIssued", data: { account: "acc_1", key_id: "key_1", made_by: "mem_1", at } } as const;
  const issue = { type: "IssueApiKey", account: "acc_1", key_id: "key_1", made_by: "mem_1", at } as const;
  specFor(apiKey)().when(issue).then(issued);
  specFor(apiKey)(issued)
    .when({ ...issue, account: "acc_2" })
    .thenNothing();
});
test("of the uses of a key, the first of each day is recorded", () => {
  const issued = { type: "ApiKeyIssued", data: { account: "acc_1", key_id: "key_1", made_by: "mem_1", at } } as const;
  const use = (day: string) => ({ type: "UseApiKey", key_id: "key_1", day, at }) as const;
  const used = (day: string) => ({ type: "ApiKeyUsed", data: { account: "acc_1", key_id: "key_1", day, at } }) as const;
  specFor(apiKey)(issued).when(use("2026-03-01")).then(used("2026-03-01"));
  specFor(apiKey)(issued, used("2026-03-01")).when(use("2026-03-01")).thenNothing();
  specFor(apiKey)(issued, used("2026-03-01")).when(use("2026-03-02")).then(used("2026-03-02"));
  // A day that is over already, after the account moved to a time zone further west.
  specFor(apiKey)(issued, used("2026-03-01")).when(use("2026-02-28")).thenNothing();
  specFor(apiKey)().when(use("2026-03-01")).thenNothing();
});
test.run();
