import { createHash } from "node:crypto";
import { dataOf, isEvent } from "../../domain/events.ts";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import type { Commitment } from "../../domain/evidence/commitment.ts";
import type { Json } from "../../domain/json.ts";
import { type PersonalErasure, personalErasure } from "../../domain/personal/erasure.ts";
import type { Client, PersonalDataEvent, PersonalValue } from "../../domain/personal/events.ts";
import type { PersonalId, Reason, Words } from "../../domain/personal/words.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { type Reaction, reaction } from "../following/reaction.ts";
import { type Envelope, toEvents } from "../streams/envelope.ts";
import { appendKnown, type CommandResult, foldStream, runCommand } from "../streams/run-command.ts";
import { isWords, type Shown, withWords } from "./shown-words.ts";

type KeptAbout = { readonly member?: string | null; readonly salt?: Uint8Array };

export type PersonalData = {
  /**
   * The caller appends the record that names the commitment to `stream` next. Without such a record,
   * `orphanedPersonalData` erases the value after a day. The value belongs to `member`: the caller if left out, and
   * nobody if null. A value of an erased member, whose cookie may still be presented, is erased at once. `salt` is given if
   * the commitment is known already.
   */
  keep(stream: string, value: PersonalValue, envelope: Envelope, about?: KeptAbout): Promise<Words>;
  /** Erases a value at once and without a record, so the caller must know that no record names the commitment. */
  forget(commitment: Commitment): Promise<void>;
  /** Null if the value was erased, belongs to another account, or does not match its commitment. */
  read(commitment: Pick<Commitment, "id" | "commitment">, account: string): Promise<PersonalValue | null>;
  /** The value with people's words in place of their commitments. Erased words are shown as `ERASED_WORDS`. */
  shown<T>(value: T, account: string): Promise<Shown<T>>;
  /** True if a commitment of the account has this id, even if its value was erased. */
  isKnown(id: string, account: string): Promise<boolean>;
  /** Null if no commitment of the account has this id. */
  erase(id: string, reason: Reason, envelope: Envelope): Promise<CommandResult<PersonalErasure, never> | null>;
};

const SALT_BYTES = 16;
const USER_AGENT_MAX = 200;
const IP_MAX = 64;
const READ_LIMIT = 1;

const ID_PREFIX = "per_";
const isPersonalId = (id: string): id is PersonalId => /^per_[a-z2-7]{32}$/.test(id);

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

export const commitmentsIn = (value: Json): readonly Words[] => {
  if (Array.isArray(value)) return value.flatMap(commitmentsIn);
  if (!isObject(value)) return [];
  return isWords(value) ? [value] : Object.values(value).flatMap(commitmentsIn);
};

const stored = async (log: Pick<EventLog, "read">, id: string) => {
  const [event] = await log.read(personalStream(id), null, READ_LIMIT);
  if (event === undefined || !isEvent(event, "PersonalDataKept")) return null;
  return { account: event.meta.account, data: event.data };
};

const readValue = async (
  log: Pick<EventLog, "read">,
  { id, commitment }: Pick<Commitment, "id" | "commitment">,
  account: string,
): Promise<PersonalValue | null> => {
  const found = await stored(log, id);
  if (found === null || found.account !== account) return null;
  const { salt, value } = found.data;
  return digest(Buffer.from(salt, "base64"), bytesOf(value)) === commitment ? value : null;
};

export type WordsSource = { readonly log: Pick<EventLog, "read">; readonly account: string };

/** `PersonalData.shown` for those who have only the log. */
export const shownIn = <T>({ log, account }: WordsSource, value: T): Promise<Shown<T>> =>
  withWords(value, (words) => readValue(log, words, account));

const isKnown = async (log: Pick<EventLog, "read" | "last">, id: string, account: string): Promise<boolean> => {
  if (!isPersonalId(id)) return false;
  const owner = (await stored(log, id))?.account ?? (await log.last(erasureStream(id)))?.meta.account;
  return owner === account;
};

type Owner = { readonly account: string; readonly member: string };

/** True if the log keeps the value, and it is this member's. */
export const isOf = async (log: Pick<EventLog, "read">, id: string, owner: Owner): Promise<boolean> => {
  const found = await stored(log, id);
  return found !== null && found.account === owner.account && found.data.member === owner.member;
};

const callerOf = ({ actor }: Envelope): string | null => (actor.kind === "member" ? actor.id : null);

const readErasure = (log: EventLog, id: string) => foldStream(log, personalErasure, erasureStream(id));

export const erasePersonalData = async (
  log: EventLog,
  id: string,
  reason: Reason,
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

/** A value that comes after the erasure of its member is erased with it. */
const eraseLate = async (log: EventLog, id: string, member: string, envelope: Envelope): Promise<void> => {
  const cause = await log.last(erasureStream(member));
  if (cause === null) return;
  const { reason } = dataOf("MemberErased", cause);
  const { actor } = cause.meta;
  const commandId = `erasure-${member}/${id}`;
  await erasePersonalData(log, id, reason, { ...envelope, commandId, actor, causationId: cause.id });
};

export const personalData = (log: EventLog, randomness: Randomness): PersonalData => ({
  async keep(stream, value, envelope, { member = callerOf(envelope), salt = randomness.bytes(SALT_BYTES) } = {}) {
    const id = `${ID_PREFIX}${randomId("", randomness)}` as const;
    const bytes = bytesOf(value);
    const after = (await log.last(stream))?.revision ?? null;
    const kept = { id, member, salt: Buffer.from(salt).toString("base64"), value, stream, after };
    const named = { ...envelope, commandId: `${envelope.commandId}/${id}` };
    await appendKnown(
      log,
      personalStream(id),
      "absent",
      toEvents([{ type: "PersonalDataKept", data: kept } satisfies PersonalDataEvent], named),
    );
    if (member !== null) await eraseLate(log, id, member, envelope);
    return { id, commitment: digest(salt, bytes), size: bytes.length };
  },

  forget: ({ id }) => log.erase(personalStream(id)),

  read: (commitment, account) => readValue(log, commitment, account),

  shown: (value, account) => shownIn({ log, account }, value),

  isKnown: (id, account) => isKnown(log, id, account),

  async erase(id, reason, envelope) {
    return (await isKnown(log, id, envelope.account)) ? erasePersonalData(log, id, reason, envelope) : null;
  },
});

export const personalDataReactions = (log: EventLog): readonly Reaction[] => [
  reaction("PersonalDataErased", async ({ id }) => {
    const stream = personalStream(id);
    if ((await log.last(stream)) !== null) await log.erase(stream);
  }),
];
