import { passwords } from "../../infra/crypto/passwords.ts";
import { accounts } from "../accounts/account-commands.ts";
import { links } from "../accounts/links.ts";
import { memberLinks } from "../accounts/member-links.ts";
import { sessionRoom } from "../accounts/session-room.ts";
import { sessions } from "../accounts/sessions.ts";
import { startLinks } from "../accounts/start-links.ts";
import { attempts } from "../http/rate-limit.ts";
import type { Foundation } from "./foundation.ts";

/** Accounts, their members, and how these log in. */
export const members = (it: Foundation) => {
  const linking = links(it.key, it.randomness);
  return {
    signup: it.config.signup,
    accounts: accounts({ ...it, passwords: passwords(), signupPlan: it.config.signupPlan }),
    memberLinks: memberLinks({ ...it, links: linking }),
    startLinks: startLinks({ ...it, links: linking }),
    sessions: sessions({ ...it, makeRoom: sessionRoom(it) }),
    attempts: attempts(it.clock),
  };
};

export type Members = ReturnType<typeof members>;
