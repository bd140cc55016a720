import type { Sealed } from "../../domain/sealed.ts";
import type { Passwords } from "../../infra/crypto/passwords.ts";
import type { SealedAt, SecretBox } from "../../infra/crypto/secret-box.ts";
import { accountStream } from "./accounts.ts";

type Owner = { readonly account: string; readonly member: string };

export type MemberPasswords = {
  seal(owner: Owner, password: string): Promise<Sealed | "overloaded">;
  /** With an owner of null the check is "wrong" after the same time, which so does not tell known addresses. */
  check(
    owner: (Owner & { readonly sealed: Sealed }) | null,
    password: string,
  ): Promise<"right" | "wrong" | "overloaded">;
};

/** The sealed hash is bound to its member: copied into another member's record, it does not open. */
const sealedAt = ({ account, member }: Owner): SealedAt => ({
  account,
  stream: accountStream(account),
  field: `password/${member}`,
});

export const memberPasswords = (box: SecretBox, passwords: Passwords): MemberPasswords => ({
  async seal(owner, password) {
    const hashed = await passwords.hash(password);
    return hashed === "overloaded" ? hashed : box.seal(hashed.hash, sealedAt(owner));
  },
  check: (owner, password) =>
    passwords.verify(owner === null ? null : box.open(owner.sealed, sealedAt(owner)), password),
});
