import { account } from "../../domain/account/decider.ts";
import { type DeviceGrant, type DeviceLoginCommand, deviceLogin } from "../../domain/account/device-login.ts";
import type { DeviceClient } from "../../domain/personal/events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { derivedId } from "../../infra/crypto/ids.ts";
import { isSameHash } from "../../infra/crypto/keyed-hash.ts";
import type { PersonalData } from "../erasure/personal-data.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { Envelope } from "../streams/envelope.ts";
import { accountStream } from "./accounts.ts";
import type { CredentialHashes } from "./credential-hashes.ts";
import type { SessionOf } from "./sessions.ts";
import { randomUserCode, userCodeOf } from "./user-code.ts";

/** Long enough to log in to the console first, short enough that a code on a screen is soon worthless. */
export const DEVICE_LOGIN_S = 600;

const SECRET_BYTES = 32;
/** A device code is a secret, and the id of the stream that has the request. */
const DEVICE_CODE = /^([\w-]{43})\.(dev_[a-z2-7]{32})$/;
export const DEVICE_CODE_LENGTH_MAX = 128;
/** Two requests in a million get a code that is in use, so a few tries always find a free one. */
const TRIES_MAX = 8;

const streamOf = (id: string): string => `device-${id}`;

export type DeviceLoginsDeps = {
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly hashes: Pick<CredentialHashes, "userCode" | "deviceCode" | "deviceGrant">;
  readonly personal: Pick<PersonalData, "keep" | "read">;
  readonly clock: Clock;
  readonly randomness: Randomness;
};

export type RequestedLogin = { readonly deviceCode: string; readonly userCode: string; readonly position: Position };

export type PendingLogin = {
  readonly userCode: string;
  /** Null if it was erased. */
  readonly caller: DeviceClient | null;
  readonly expiresAt: string;
};

export type Redeemed = { readonly outcome: "approved"; readonly of: SessionOf };

export type Member = { readonly account: string; readonly member: string };

/** Logins of command lines, which a member lets in from the console (RFC 8628). The log has no code, only their hashes. */
export class DeviceLogins {
  readonly #deps: DeviceLoginsDeps;

  constructor(deps: DeviceLoginsDeps) {
    this.#deps = deps;
  }

  async request(client: DeviceClient, envelope: Envelope): Promise<RequestedLogin> {
    const { aggregates, hashes, personal, clock, randomness } = this.#deps;
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      const userCode = randomUserCode(randomness);
      const id = this.#idOf(userCode);
      const secret = Buffer.from(randomness.bytes(SECRET_BYTES)).toString("base64url");
      const expires_at = new Date(clock.now() + DEVICE_LOGIN_S * 1_000).toISOString();
      const named = { ...envelope, commandId: `${envelope.commandId}/device-${tries}` };
      const kept = await personal.keep(streamOf(id), client, named);
      const caller = { personal: kept.id, commitment: kept.commitment };
      const mac = hashes.deviceCode(secret, { id, expires_at });
      const command = { type: "RequestDeviceLogin", mac, caller, expires_at, at: envelope.at } as const;
      const done = await aggregates.handle(deviceLogin, streamOf(id), command, named);
      if (done.outcome === "accepted") return { deviceCode: `${secret}.${id}`, userCode, position: done.position };
    }
    throw new Error("no free user code was found");
  }

  /** The request that waits under this code; null if the code is unknown, was decided or has expired. */
  async pending(typed: string, at: string): Promise<PendingLogin | null> {
    const userCode = userCodeOf(typed);
    if (userCode === null) return null;
    const { state } = await this.#deps.aggregates.load(deviceLogin, streamOf(this.#idOf(userCode)), 0);
    if (state.phase !== "requested" || state.request.expires_at <= at) return null;
    const { caller, expires_at: expiresAt } = state.request;
    const value = await this.#deps.personal.read({ id: caller.personal, commitment: caller.commitment }, "");
    // The value under this commitment is always the `DeviceClient` that `request` has kept.
    return { userCode, caller: value as DeviceClient | null, expiresAt };
  }

  /** The position of the record; null if nothing waits under this code. */
  async approve(typed: string, member: Member, envelope: Envelope): Promise<Position | null> {
    const userCode = userCodeOf(typed);
    const epoch = await this.#epochOf(member);
    if (userCode === null || epoch === null) return null;
    const id = this.#idOf(userCode);
    const mac = this.#deps.hashes.deviceGrant({ id, ...member, epoch });
    return this.#handled(id, { type: "ApproveDeviceLogin", ...member, epoch, mac, at: envelope.at }, envelope);
  }

  async deny(typed: string, member: Member, envelope: Envelope): Promise<Position | null> {
    const userCode = userCodeOf(typed);
    if (userCode === null) return null;
    return this.#handled(this.#idOf(userCode), { type: "DenyDeviceLogin", ...member, at: envelope.at }, envelope);
  }

  /** What has become of the request; what was approved is redeemed by this call, once. */
  async redeem(deviceCode: string, envelope: Envelope): Promise<"pending" | "denied" | "gone" | Redeemed> {
    const { aggregates, hashes } = this.#deps;
    const [, secret, id] = DEVICE_CODE.exec(deviceCode) ?? [];
    if (secret === undefined || id === undefined) return "gone";
    const { state } = await aggregates.load(deviceLogin, streamOf(id));
    if (!("request" in state) || state.request.expires_at <= envelope.at) return "gone";
    const { mac, expires_at } = state.request;
    if (!isSameHash(mac, hashes.deviceCode(secret, { id, expires_at }))) return "gone";
    if (state.phase !== "approved") return state.phase === "denied" ? "denied" : "pending";
    const { grant } = state;
    if (!(await this.#holds(id, grant))) return "gone";
    const of = { account: grant.account, member: grant.member, epoch: grant.epoch };
    const by = { ...envelope, account: of.account, actor: { kind: "member", id: of.member } } as const;
    const position = await this.#handled(id, { type: "RedeemDeviceLogin", at: envelope.at }, by);
    return position === null ? "gone" : { outcome: "approved", of };
  }

  #idOf(userCode: string): string {
    return derivedId("dev_", this.#deps.hashes.userCode(userCode));
  }

  async #epochOf({ account: of, member }: Member): Promise<number | null> {
    const { state } = await this.#deps.aggregates.load(account, accountStream(of), 0);
    return (state.phase === "open" ? state.members.get(member)?.epoch : undefined) ?? null;
  }

  /** False for a grant that this service did not make, and if the member has left or changed the password since. */
  async #holds(id: string, { mac, ...grant }: DeviceGrant): Promise<boolean> {
    if (!isSameHash(mac, this.#deps.hashes.deviceGrant({ id, ...grant }))) return false;
    return (await this.#epochOf(grant)) === grant.epoch;
  }

  async #handled(id: string, command: DeviceLoginCommand, envelope: Envelope): Promise<Position | null> {
    const done = await this.#deps.aggregates.handle(deviceLogin, streamOf(id), command, envelope);
    return done.outcome === "accepted" ? done.position : null;
  }
}
