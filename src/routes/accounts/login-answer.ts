import type { OpenAccount } from "../../../domain/account/decider.ts";
import { planAt } from "../../../domain/account/subscription.ts";
import type { AccountMember } from "../../accounts/accounts.ts";
import { type Sessions, sessionCookie } from "../../accounts/sessions.ts";
import { clientOf, type PersonalData } from "../../erasure/personal-data.ts";
import { named } from "../../http/named-schemas.ts";
import type { Answer, Call, JsonSchema } from "../../http/route.ts";
import { type Problem, problem } from "../../streams/problems.ts";

const strings = (...names: string[]): JsonSchema => ({
  type: "object",
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
});

export const ACCOUNT: JsonSchema = named("Account", strings("id", "name", "plan", "time_zone"));

export const SIGNED_IN: JsonSchema = named("SignedIn", {
  type: "object",
  required: ["account", "member"],
  properties: {
    account: ACCOUNT,
    member: named("Member", strings("id", "email", "role")),
  },
});

export const accountAnswer = (
  { account: id, name, subscription, time_zone }: Pick<OpenAccount, "account" | "name" | "subscription" | "time_zone">,
  at: string,
) => ({ id, name, plan: planAt(subscription, at), time_zone });

export const memberAnswer = async (
  personal: Pick<PersonalData, "shown">,
  { account, member }: AccountMember,
  at: string,
) => ({
  account: accountAnswer(account, at),
  member: { id: member.id, email: await personal.shown(member.email, account.account), role: member.role },
});

export type SigningIn = { readonly sessions: Sessions; readonly personal: Pick<PersonalData, "shown"> };

export const openSession = async (
  { sessions, personal }: SigningIn,
  status: number,
  person: AccountMember,
  call: Call,
): Promise<Answer> => {
  const { account: owner, member } = person;
  const envelope = {
    ...call.envelope,
    account: owner.account,
    actor: { kind: "member", id: member.id },
  } as const;
  const of = { account: owner.account, member: member.id, epoch: member.epoch };
  const { token, position } = await sessions.open(of, { client: clientOf(call), madeBy: "browser" }, envelope);
  return {
    status,
    body: await memberAnswer(personal, person, call.envelope.at),
    headers: { "set-cookie": sessionCookie(token) },
    position,
  };
};

export const rateLimited = (retryAfterS: number): Problem =>
  problem("rate-limited", "Too many attempts. Wait before the next one.", { retryAfterS });
