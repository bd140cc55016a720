import type { ComponentChildren } from "preact";
import { whyNotAdmin } from "./act.tsx";

/** The changes of a thing's page; to others it says who can make them: "change or delete it". */
export const AdminsOnly = ({ to, children }: { readonly to: string; readonly children: ComponentChildren }) =>
  whyNotAdmin() === null ? children : <p class="soft">Only an admin or an owner can {to}.</p>;
