import { LINK_PATHS, SIGN_IN } from "./for-service.ts";

/** The addresses at which people open the console. Each answers with the same shell, and every other address is 404. */

const LISTS = ["events", "approvals", "bundles", "replays", "sources", "endpoints", "agents", "policies"];
const MADE_HERE = ["sources", "endpoints", "agents", "policies"];

export const CONSOLE_ADDRESSES: readonly string[] = [
  "/",
  "/overview",
  ...LISTS.flatMap((name) => [`/${name}`, `/${name}/{id}`]),
  ...MADE_HERE.map((name) => `/${name}/new`),
  "/agents/actions/{name}",
  "/audit",
  "/audit/{index}",
  "/usage",
  "/settings",
  "/settings/{section}",
  "/device",
  SIGN_IN,
  ...LINK_PATHS,
];
