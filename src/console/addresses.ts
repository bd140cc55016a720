/** The addresses at which people open the console. Each answers with the same shell, and every other address is 404. */

const LISTS = ["events", "approvals", "bundles", "replays", "sources", "endpoints", "agents", "policies"];
const MADE_HERE = ["sources", "endpoints", "agents", "policies"];

/** Asks only who is signed in: a member goes on from there, and a visitor is shown the form. */
export const SIGN_IN_ADDRESS = "/sign-in";
/** The pages of one-time links. They ask nothing of a session, whoever has one. */
export const LINK_ADDRESSES: readonly string[] = ["/start", "/join", "/reset"];

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
  SIGN_IN_ADDRESS,
  ...LINK_ADDRESSES,
];
