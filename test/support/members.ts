import { account } from "../../domain/account/decider.ts";
import type { Role } from "../../domain/account/events.ts";
import type { Commitment } from "../../domain/evidence/commitment.ts";
import { accountStream } from "../../src/accounts/accounts.ts";
import type { Aggregates } from "../../src/streams/aggregates.ts";
import type { Envelope } from "../../src/streams/envelope.ts";
import type { Client, Reply } from "./client.ts";
import { addressed } from "./personal-words.ts";

type Person = { readonly member: string; readonly email: string; readonly role: Role };

/** What stands in a record for where a request came from. */
export const CLIENT: Commitment = { id: `per_${"a".repeat(32)}`, commitment: "00".repeat(32), size: 2 };

/** Makes somebody a member of `envelope.account` without a password, unless they are or were one. */
export const joinAccount = async (
  streams: Pick<Aggregates, "handle">,
  person: Person,
  envelope: Envelope,
): Promise<void> => {
  const { member, email, role } = person;
  const { at, commandId } = envelope;
  const stream = accountStream(envelope.account);
  const link = { mac: "", expires_at: "9999-12-31T23:59:59.999Z", by: { kind: "system", id: "test" } } as const;
  const invite = { type: "InviteMember", member, ...addressed(email), role, grant: "", ...link, at } as const;
  await streams.handle(account, stream, invite, { ...envelope, commandId: `${commandId}/invite` });
  const accept = { type: "AcceptInvitation", member, password: "", client: CLIENT, at } as const;
  await streams.handle(account, stream, accept, { ...envelope, commandId: `${commandId}/accept` });
};

/** What stands behind # in a link. */
export const tokenOf = (link: unknown): string => new URL(String(link)).hash.slice(1);

export const MEMBER_PASSWORD = "correct horse battery";

/** Invites a person over HTTP and accepts for them; the answer logs them in. */
export const addMember = async (
  client: Pick<Client, "session">,
  email: string,
  role: Role = "viewer",
): Promise<{ readonly id: string; readonly invited: Reply; readonly accepted: Reply; readonly cookie: string }> => {
  const invited = await client.session("POST", "/v1/members/invitations", { email, role });
  if (invited.status !== 201) throw new Error(`invitation: ${invited.status} ${JSON.stringify(invited.body)}`);
  const body = { token: tokenOf(invited.body.invitation_url), password: MEMBER_PASSWORD };
  const accepted = await client.session("POST", "/v1/auth/invitations/accept", body, { cookie: "" });
  if (accepted.status !== 200) throw new Error(`acceptance: ${accepted.status} ${JSON.stringify(accepted.body)}`);
  const cookie = accepted.headers.get("set-cookie")?.split(";")[0] ?? "";
  return { id: invited.body.id, invited, accepted, cookie };
};
