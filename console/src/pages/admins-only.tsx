import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { whyNotAdmin } from "./act.tsx";

/** Forms stand below what is read first, and are drawn once that is on the screen. */
const Later = ({ children }: { readonly children: ComponentChildren }) => {
  const [isDue, setDue] = useState(false);
  useEffect(() => setDue(true), []);
  return isDue ? children : null;
};

/** The changes of a thing's page; to others it says who can make them: "change or delete it". */
export const AdminsOnly = ({ to, children }: { readonly to: string; readonly children: ComponentChildren }) =>
  whyNotAdmin() === null ? <Later>{children}</Later> : <p class="soft">Only an admin or an owner can {to}.</p>;
