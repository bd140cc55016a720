import { account } from "../../domain/account/decider.ts";
import { emailClaim } from "../../domain/account/email-claim.ts";
import { derivedId, randomId } from "../../infra/crypto/ids.ts";
import type { Envelope } from "../streams/envelope.ts";
import {
  type Accounts,
  type AccountsDeps,
  accountMember,
  accountStream,
  addressOf,
  emailStream,
  makerOf,
  refused,
} from "./accounts.ts";
import { emailClaims } from "./email-claims.ts";
import { memberPasswords } from "./member-passwords.ts";
import { passwordChanges } from "./password-changes.ts";

export const accounts = (deps: AccountsDeps): Accounts => {
  const { aggregates, randomness, hashes, signupPlan } = deps;
  const passwords = memberPasswords(deps.box, deps.passwords);
  const claims = emailClaims({ ...deps, passwords });
  const streamOf = (email: string): string => emailStream(addressOf(email, hashes));

  return {
    ...passwordChanges({ ...deps, passwords }),
    finishClaim: claims.finishClaim,
    releaseEmail: claims.releaseEmail,

    async signUp({ email, password, name, timeZone, client }, call, isFirst = async () => true) {
      // The id is random and not derived from the command: a caller without a credential could choose a derived one.
      const id = randomId("acc_", randomness);
      const member = randomId("mem_", randomness);
      const envelope: Envelope = { ...call, account: id, actor: { kind: "member", id: member } };
      // The owner's role is granted here, by a keyed hash: a claim rewritten in the log's file makes no owner.
      const grant = hashes.role({ account: id, member, role: "owner" });
      const opens = { name, plan: signupPlan, time_zone: timeZone, grant };
      const address = addressOf(email, hashes);
      const claim = { account: id, member, address, opens, at: call.at };
      return await claims.join(claim, { email, password, client }, envelope, () =>
        isFirst({ account: id, member }, envelope),
      );
    },

    async memberOf(email) {
      const { state } = await aggregates.load(emailClaim, streamOf(email));
      return state.phase === "free" ? null : { account: state.claim.account, subject: state.claim.member };
    },

    async logIn(email, password, call) {
      const { state } = await aggregates.load(emailClaim, streamOf(email), 0);
      const claim = state.phase === "claimed" ? state.claim : null;
      // An unknown address causes the same reads, so that the time of the answer does not tell it from a known one.
      const owner = claim?.account ?? derivedId("acc_", hashes.address(email));
      const { state: there } = await aggregates.load(account, accountStream(owner), 0);
      const found = claim === null || there.phase !== "open" ? null : accountMember(there, claim.member);
      // If a crash came before the account's record, the claim has no member yet, and its own password counts.
      const held = claim && { ...claim, sealed: found?.member.password ?? claim.password };
      const checked = await passwords.check(held, password);
      if (checked === "overloaded") return refused("overloaded");
      if (checked === "wrong" || claim === null) return refused("invalid-credentials");
      // The member's epoch was read before the check, so that a password change in between ends the new session.
      if (found !== null) return { outcome: "joined", position: undefined, ...found };
      const actor = { kind: "member", id: claim.member } as const;
      const finished = await claims.finishClaim(claim, { ...call, account: claim.account, actor });
      return finished.outcome === "joined" ? finished : refused("invalid-credentials");
    },

    async accept({ account: id, member, address, ...use }, call) {
      const envelope: Envelope = { ...call, account: id, actor: { kind: "member", id: member } };
      return await claims.join({ account: id, member, address, opens: null, at: call.at }, use, envelope);
    },

    async removeMember(member, envelope) {
      const stream = accountStream(envelope.account);
      const before = await aggregates.load(account, stream, 0);
      const leaving = before.state.phase === "open" ? before.state.members.get(member) : undefined;
      const command = { type: "RemoveMember", member, by: makerOf(envelope), at: envelope.at } as const;
      const removed = await aggregates.handle(account, stream, command, envelope);
      if (removed.outcome === "rejected") return refused(removed.rejection);
      if (leaving !== undefined)
        await claims.releaseEmail({ account: envelope.account, id: member, address: leaving.address }, envelope);
      return { outcome: "removed", position: removed.position };
    },
  };
};
