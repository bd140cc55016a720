import { passwords } from "../../infra/crypto/passwords.ts";
import { accounts } from "../accounts/account-commands.ts";
import { DeviceLogins } from "../accounts/device-logins.ts";
import { links } from "../accounts/links.ts";
import { memberLinks } from "../accounts/member-links.ts";
import { sessionRoom } from "../accounts/session-room.ts";
import { sessions } from "../accounts/sessions.ts";
import { startLinks } from "../accounts/start-links.ts";
import { attempts } from "../http/rate-limit.ts";
import type { Foundation } from "./foundation.ts";

export const buildMembers = (foundation: Foundation) => {
  const linking = links(foundation.key, foundation.randomness);
  return {
    signup: foundation.config.signup,
    accounts: accounts({ ...foundation, passwords: passwords(), signupPlan: foundation.config.signupPlan }),
    memberLinks: memberLinks({ ...foundation, links: linking }),
    startLinks: startLinks({ ...foundation, links: linking }),
    sessions: sessions({ ...foundation, makeRoom: sessionRoom(foundation) }),
    deviceLogins: new DeviceLogins(foundation),
    attempts: attempts(foundation.clock),
  };
};

export type Members = ReturnType<typeof buildMembers>;
