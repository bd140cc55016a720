import { ROLES, type Role, roleIncludes } from "../../../domain/account/events.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { members } from "../../../projections/members.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import { pageIn } from "../../views/typed-documents.ts";
import type { Named } from "./names.ts";

type Deps = { readonly views: Pick<ViewStore, "page">; readonly personal: Pick<PersonalData, "shown"> };

export const HOLDERS_MAX = 10;
/** Members that are looked through for those who have a right. */
const LOOKED_AT_MAX = 500;

/** What people call a member: their address up to the @, so that the address itself is told to nobody. */
export const shortName = (address: string | null): string | null => address?.split("@")[0] ?? null;

/** Active members who have the right of a role, by id; those whose role is no higher than needed come first. */
export const holdersOf = async (
  { views, personal }: Deps,
  account: string,
  right: Role,
): Promise<Readonly<Record<string, Named>>> => {
  const found = await pageIn(views, members, {
    where: [{ field: "account", is: "=", value: account }],
    sort: { field: "created_at", order: "asc" },
    limit: LOOKED_AT_MAX,
  });
  const holders = found
    .filter(({ document: { state, role } }) => state === "active" && roleIncludes(role, right))
    .sort((a, b) => ROLES.indexOf(b.document.role) - ROLES.indexOf(a.document.role))
    .slice(0, HOLDERS_MAX);
  const named = await Promise.all(
    holders.map(async ({ id, document: { email } }): Promise<readonly [string, Named]> => {
      const name = shortName(await personal.shown(email, account));
      return [id, { kind: "member", name, removed: false }];
    }),
  );
  return Object.fromEntries(named);
};
