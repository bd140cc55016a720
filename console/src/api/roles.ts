/** Roles that decide on approvals. */
const DECIDING_ROLES: readonly string[] = ["owner", "admin", "approver"];

/** The roles that have each right which a page may need. */
const HOLDERS = {
  owner: ["owner"],
  admin: ["owner", "admin"],
  approver: DECIDING_ROLES,
  auditor: [...DECIDING_ROLES, "auditor"],
} as const satisfies Record<string, readonly string[]>;

export type Right = keyof typeof HOLDERS;

export const hasRight = (role: string, right: Right): boolean => (HOLDERS[right] as readonly string[]).includes(role);
