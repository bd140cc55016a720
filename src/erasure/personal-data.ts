import { createHash } from "node:crypto";
import { isEvent } from "../../domain/events.ts";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import type { Commitment } from "../../domain/evidence/commitment.ts";
import type { Json } from "../../domain/json.ts";
import { type PersonalErasure, personalErasure } from "../../domain/personal/erasure.ts";
import type { Client, PersonalDataEvent, PersonalValue } from "../../domain/personal/events.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { type Reaction, reaction } from "../following/reaction.ts";
import { type Envelope, toEvents } from "../streams/envelope.ts";
import { appendKnown, type CommandResult, foldStream, runCommand } from "../streams/run-command.ts";

export type PersonalData = {
  /**
   * The caller appends the record that names the commitment to `stream` next. Without such a record,
   * `orphanedPersonalData` erases the value after a day.
   */
  keep(stream: string, value: PersonalValue, envelope: Envelope): Promise<Commitment>;
  /** Erases a value at once and without a record, so the caller must know that no record names the commitment. */
  forget(commitment: Commitment): Promise<void>;
  /** Null if the value was erased, belongs to another account, or does not match its commitment. */
  read(commitment: Commitment, account: string): Promise<PersonalValue | null>;
  /** Null if no commitment of the account has this id. */
  erase(id: string, reason: string, envelope: Envelope): Promise<CommandResult<PersonalErasure, never> | null>;
};

const SALT_BYTES = 16;
const USER_AGENT_MAX = 200;
const IP_MAX = 64;
const READ_LIMIT = 1;

const ID_PREFIX = "per_";
const isCommitmentId = (id: string): boolean => /^per_[a-z2-7]{32}$/.test(id);

export const personalStream = (id: string): string => `personal-${id}`;
export const erasureStream = (id: string): string => `erasure-${id}`;

export const clientOf = ({ ip, userAgent }: { readonly ip: string; readonly userAgent: string }): Client => ({
  ip: ip.slice(0, IP_MAX),
  user_agent: userAgent.slice(0, USER_AGENT_MAX),
});

const bytesOf = (value: PersonalValue): Buffer =>
  Buffer.from(typeof value === "string" ? value : canonicalJson(value), "utf8");

const digest = (salt: Uint8Array, bytes: Uint8Array): string =>
  createHash("sha256").update(salt).update(bytes).digest("hex");

const isObject = (value: Json | undefined): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const commitmentsIn = (value: Json): readonly Commitment[] => {
  if (Array.isArray(value)) return value.flatMap(commitmentsIn);
  if (!isObject(value)) return [];
  const { id, commitment, size } = value;
  if (typeof id === "string" && isCommitmentId(id) && typeof commitment === "string" && typeof size === "number")
    return [{ id, commitment, size }];
  return Object.values(value).flatMap(commitmentsIn);
};

const stored = async (log: Pick<EventLog, "read">, id: string) => {
  const [event] = await log.read(personalStream(id), null, READ_LIMIT);
  if (event === undefined || !isEvent(event, "PersonalDataKept")) return null;
  return { account: event.meta.account, data: event.data };
};

const readErasure = (log: EventLog, id: string) => foldStream(log, personalErasure, erasureStream(id));

export const erasePersonalData = async (
  log: EventLog,
  id: string,
  reason: string,
  envelope: Envelope,
): Promise<CommandResult<PersonalErasure, never>> => {
  const command = { type: "ErasePersonalData", id, reason, at: envelope.at } as const;
  const known = await readErasure(log, id);
  const ran = await runCommand(log, {
    decider: personalErasure,
    stream: erasureStream(id),
    from: known,
    command,
    envelope,
  });
  await log.erase(personalStream(id));
  return ran;
};

export const personalData = (log: EventLog, randomness: Randomness): PersonalData => ({
  async keep(stream, value, envelope) {
    const id = randomId(ID_PREFIX, randomness);
    const salt = randomness.bytes(SALT_BYTES);
    const bytes = bytesOf(value);
    const after = (await log.last(stream))?.revision ?? null;
    const data: PersonalDataEvent["data"] = { id, salt: Buffer.from(salt).toString("base64"), value, stream, after };
    const named = { ...envelope, commandId: `${envelope.commandId}/${id}` };
    await appendKnown(log, personalStream(id), "absent", toEvents([{ type: "PersonalDataKept", data }], named));
    return { id, commitment: digest(salt, bytes), size: bytes.length };
  },

  forget: ({ id }) => log.erase(personalStream(id)),

  async read({ id, commitment }, account) {
    const found = await stored(log, id);
    if (found === null || found.account !== account) return null;
    const { salt, value } = found.data;
    return digest(Buffer.from(salt, "base64"), bytesOf(value)) === commitment ? value : null;
  },

  async erase(id, reason, envelope) {
    if (!isCommitmentId(id)) return null;
    const account = (await stored(log, id))?.account ?? (await log.last(erasureStream(id)))?.meta.account;
    return account === envelope.account ? erasePersonalData(log, id, reason, envelope) : null;
  },
});

export const personalDataReactions = (log: EventLog): readonly Reaction[] => [
  reaction("PersonalDataErased", async ({ id }) => {
    const stream = personalStream(id);
    if ((await log.last(stream)) !== null) await log.erase(stream);
  }),
];
