import { account } from "../../domain/account/decider.ts";
import { normalizeEmail } from "../../domain/account/email-address.ts";
import { emailClaim } from "../../domain/account/email-claim.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { systemClock } from "../../infra/clock.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { accountStream, addressOf, emailStream } from "../accounts/accounts.ts";
import { credentialHashes } from "../accounts/credential-hashes.ts";
import { LINK_LIFETIME_MS, links, linkUrl } from "../accounts/links.ts";
import { memberLinks } from "../accounts/member-links.ts";
import { type Config, readConfig } from "../config.ts";
import { locationsOf, openLog } from "../engine/open-engines.ts";
import { personalData } from "../erasure/personal-data.ts";
import { hasRing } from "../keys/key-ring.ts";
import { openDataKey, presentKey } from "../keys/server-key.ts";
import { aggregates } from "../streams/aggregates.ts";
import { systemEnvelope } from "../streams/envelope.ts";
import { type Command, type Env, UsageError } from "./command.ts";
import { liftProtection } from "./lift-protection.ts";
import { checkExists } from "./log-location.ts";

/** The service's own key is needed, because a link made with another key would be invalid. */
const keyOf = async (config: Config, log: EventLog): Promise<Uint8Array> => {
  const key = presentKey(config);
  if (key === null || !(await hasRing(log)))
    throw new UsageError("The server's key is missing: set COUNTERSIGN_KEY, or DATA_DIR where the service keeps it.");
  return openDataKey(log, config, key, systemClock);
};

const linkIn = async (log: EventLog, config: Config, email: string): Promise<string> => {
  const key = await keyOf(config, log);
  const hashes = credentialHashes(key);
  const streams = aggregates(log, systemClock);
  const { state: address } = await streams.load(emailClaim, emailStream(addressOf(email, hashes)));
  if (address.phase === "free") throw new Error("No member has this address.");
  const { account: id, member } = address.claim;
  const { state } = await streams.load(account, accountStream(id));
  if (state.phase !== "open" || state.members.get(member)?.role !== "owner")
    throw new Error("This person is not an owner: an owner of the account can make a reset link for them.");
  const personal = personalData(log, randomness);
  const making = memberLinks({ aggregates: streams, links: links(key, randomness), hashes, personal, randomness });
  const envelope = systemEnvelope({
    actor: "account-recover",
    commandId: randomId("cmd_", randomness),
    account: id,
    at: new Date(systemClock.now()).toISOString(),
  });
  const link = await making.reset(member, envelope, LINK_LIFETIME_MS.recovery);
  if (link.outcome === "refused") throw new Error(`The link could not be made: ${link.rejection}.`);
  return linkUrl(config.publicUrl ?? `http://localhost:${config.port}`, "reset", link.token);
};

const inLog = async <T>(config: Config, use: (log: EventLog) => Promise<T>): Promise<T> => {
  const location = locationsOf(config).log;
  checkExists(location);
  const log = await openLog(location);
  try {
    return await use(log);
  } finally {
    await log.close();
  }
};

/** A link with which the owner of this address sets a password, within an hour and once. */
export const ownerLink = (env: Env, email: string): Promise<string> => {
  const config = readConfig(env);
  return inLog(config, (log) => linkIn(log, config, email));
};

export const accountRecover: Command = {
  synopsis: "<e-mail address> | --policy <id>",
  help: [
    "Makes a link with which an owner sets a new password, within an hour and once, and records that",
    "it was made here. Run it with the service's environment (DATA_DIR or EVENTSTORE_URL,",
    "COUNTERSIGN_KEY, PUBLIC_URL); the service may run. Any other member gets a link from an owner.",
    "",
    "With --policy it requests the end of a policy's protection, for an account with too few people left",
    "who could approve. That takes effect after 24 hours; until then the policy shows it, and an admin",
    "of the account can cancel it with DELETE /v1/policies/<id>/protection-lift.",
  ],
  options: { policy: { type: "string" } },
  async run({ positionals: [given, ...others], options: { policy } }, env, terminal) {
    const email = normalizeEmail(given ?? "");
    const isLift = typeof policy === "string" && given === undefined;
    if (!isLift && (email === null || policy !== undefined || others.length > 0))
      throw new UsageError(
        "account recover takes the e-mail address of an owner, or --policy with the id of a policy.",
      );
    if (isLift) {
      const liftsAt = await inLog(readConfig(env), (log) => liftProtection(log, policy));
      return terminal.out(
        `The protection of ${policy} ends at ${liftsAt}, unless an admin of the account cancels that.`,
      );
    }
    terminal.out(await ownerLink(env, email ?? ""));
    terminal.note("The link works once, within an hour. It ends every session of this owner.");
  },
};
