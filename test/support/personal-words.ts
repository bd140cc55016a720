import { createHash } from "node:crypto";
import type { Addressed } from "../../domain/account/events.ts";
import type { PersonalDataEvent } from "../../domain/personal/events.ts";
import type { Words } from "../../domain/personal/words.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { derivedId } from "../../infra/crypto/ids.ts";
import { personalStream } from "../../src/erasure/personal-data.ts";
import { NO_TRACE, toEvents } from "../../src/streams/envelope.ts";

const SALT = Buffer.alloc(16, 7);

/** What a record has in place of the text. The same text has the same commitment, so that records can be compared. */
export const words = (text: string): Words => ({
  id: `per_${derivedId("", text)}`,
  commitment: createHash("sha256").update(SALT).update(text).digest("hex"),
  size: Buffer.byteLength(text),
});

export const addressed = (email: string): Addressed => ({ email: words(email), address: derivedId("eml_", email) });

/** Stores the text of `words(text)`, as the service does before the record. */
export const keepWords = async (log: Pick<EventLog, "append">, account: string, text: string): Promise<Words> => {
  const it = words(text);
  const data = { id: it.id, member: null, salt: SALT.toString("base64"), value: text, stream: "", after: null };
  const kept: PersonalDataEvent = { type: "PersonalDataKept", data };
  const at = "2026-03-01T12:00:00.000Z";
  const actor = { kind: "system", id: "test" } as const;
  const envelope = { commandId: `keep-${it.id}`, account, actor, trace: NO_TRACE, at };
  await log.append(personalStream(it.id), "absent", toEvents([kept], envelope));
  return it;
};
