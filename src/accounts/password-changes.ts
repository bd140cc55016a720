import { account } from "../../domain/account/decider.ts";
import type { Envelope } from "../streams/envelope.ts";
import { type Accounts, type AccountsDeps, accountMember, accountStream, refused } from "./accounts.ts";
import type { MemberPasswords } from "./member-passwords.ts";

type PasswordChangesDeps = Pick<AccountsDeps, "aggregates" | "personal"> & { readonly passwords: MemberPasswords };

export const passwordChanges = ({
  aggregates,
  personal,
  passwords,
}: PasswordChangesDeps): Pick<Accounts, "reset" | "changePassword"> => ({
  async reset({ account: id, member, mac, password, client: from }, call) {
    const sealed = await passwords.seal({ account: id, member }, password);
    if (sealed === "overloaded") return refused(sealed);
    const envelope: Envelope = { ...call, account: id, actor: { kind: "member", id: member } };
    const client = await personal.keep(accountStream(id), from, envelope);
    const command = { type: "ResetPassword", member, mac, password: sealed, client, at: call.at } as const;
    const set = await aggregates.handle(account, accountStream(id), command, envelope);
    if (set.outcome === "rejected") {
      await personal.forget(client);
      return refused(set.rejection);
    }
    const found = set.state.phase === "open" ? accountMember(set.state, member) : null;
    if (found?.member.password !== sealed) return refused("link-gone");
    return { outcome: "joined", position: set.position, ...found };
  },

  async changePassword({ member, current, next, keeps, client: from }, envelope) {
    const owner = { account: envelope.account, member };
    const stream = accountStream(envelope.account);
    const { state } = await aggregates.load(account, stream, 0);
    const verified = state.phase === "open" ? state.members.get(member)?.password : undefined;
    if (verified === undefined) return refused("member-absent");
    const checked = await passwords.check({ ...owner, sealed: verified }, current);
    if (checked === "overloaded") return refused("overloaded");
    if (checked === "wrong") return refused("invalid-credentials");
    const password = await passwords.seal(owner, next);
    if (password === "overloaded") return refused("overloaded");
    const client = await personal.keep(stream, from, envelope);
    const command = { type: "ChangePassword", member, verified, password, client, keeps, at: envelope.at } as const;
    const changed = await aggregates.handle(account, stream, command, envelope);
    if (changed.outcome === "rejected") {
      await personal.forget(client);
      return refused(changed.rejection === "password-changed" ? "invalid-credentials" : changed.rejection);
    }
    return { outcome: "changed", position: changed.position };
  },
});
