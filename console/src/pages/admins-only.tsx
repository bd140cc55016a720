import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { withHolders } from "../api/holders.ts";
import { mayIt } from "../api/may-decide.ts";

/** Forms stand below what is read first, and are drawn once that is on the screen. */
const Later = ({ children }: { readonly children: ComponentChildren }) => {
  const [isDue, setDue] = useState(false);
  useEffect(() => setDue(true), []);
  return isDue ? children : null;
};

/** The changes of a thing's page; to others it says who can make them: "change or delete it". */
export const AdminsOnly = ({ to, children }: { readonly to: string; readonly children: ComponentChildren }) =>
  mayIt("admin") ? (
    <Later>{children}</Later>
  ) : (
    <p class="soft">{withHolders(`Only an admin or an owner can ${to}`, "admin")}</p>
  );
