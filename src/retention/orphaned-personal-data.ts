import type { PersonalDataEvent } from "../../domain/personal/events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { commitmentsIn, erasePersonalData } from "../erasure/personal-data.ts";
import { systemEnvelope } from "../streams/envelope.ts";
import { pagesOf } from "../streams/stream-pages.ts";
import { type AgedLog, agedRecords, type Sweep } from "./aged-records.ts";

const KEPT: PersonalDataEvent["type"] = "PersonalDataKept";
const AGE_MS = 24 * 60 * 60 * 1_000;
const PAGE = 100;
const READ_PAGE = 100;

const isNamed = async (log: Pick<EventLog, "read">, kept: PersonalDataEvent["data"]): Promise<boolean> => {
  for await (const page of pagesOf(log, kept.stream, kept.after, READ_PAGE)) {
    if (page.some(({ data }) => commitmentsIn(data).some(({ id }) => id === kept.id))) return true;
  }
  return false;
};

/**
 * A request that died before its record leaves personal data that no record names. The erasure is recorded, because a
 * process that was suspended for a day may still append that record.
 */
export const orphanedPersonalData = (
  log: EventLog & AgedLog,
  clock: Clock,
  randomness: Randomness,
  onError: (error: unknown) => void,
): Sweep => {
  const kept = agedRecords(log, clock, {
    stream: "checkpoint-personal",
    type: "PersonalDataSwept",
    types: [KEPT],
    ageMs: AGE_MS,
    page: PAGE,
    onError,
  });

  const erase = (id: string, { meta }: RecordedEvent) =>
    erasePersonalData(
      log,
      id,
      "no record names it",
      systemEnvelope({
        actor: "retention",
        commandId: randomId("cmd_", randomness),
        account: meta.account,
        at: new Date(clock.now()).toISOString(),
      }),
    );

  return {
    sweep: (isStopping) =>
      kept.sweep(isStopping, async (record) => {
        const data = record.data as PersonalDataEvent["data"];
        if (await isNamed(log, data)) return false;
        await erase(data.id, record);
        return true;
      }),
  };
};
