import { randomUUID } from "node:crypto";
import { EventStoreDBClient, jsonEvent, NO_STREAM } from "@eventstore/db-client";
import type { Records, RecordText } from "./admission-records.ts";
import { answerParent } from "./child.ts";
import { monotonicMs } from "./clock.ts";

/** This process appends the two records of an admission through EventStoreDB's own client, to measure storage alone. */

export type AppendsOrder = {
  readonly url: string;
  readonly seconds: number;
  readonly pairsAtOnce: number;
} & Records;

const appended = async ({ url, seconds, pairsAtOnce, payload, admitted }: AppendsOrder): Promise<number> => {
  const client = EventStoreDBClient.connectionString(url);
  const run = randomUUID().replaceAll("-", "");
  const startedAt = monotonicMs();
  const endsAt = startedAt + seconds * 1_000;
  let pairs = 0;

  const append = (name: string, { type, data, meta }: RecordText): Promise<unknown> => {
    const event = jsonEvent({ id: randomUUID(), type, data: JSON.parse(data), metadata: JSON.parse(meta) });
    return client.appendToStream(`payload-bench${run}-${name}`, event, { expectedRevision: NO_STREAM });
  };
  const send = async (sender: number): Promise<void> => {
    for (let n = 0; monotonicMs() < endsAt; n += 1) {
      const name = `${sender}-${n}`;
      await Promise.all([append(`${name}-payload`, payload), append(`${name}-admitted`, admitted)]);
      pairs += 1;
    }
  };

  await Promise.all(Array.from({ length: pairsAtOnce }, (_, sender) => send(sender)));
  const elapsedS = (monotonicMs() - startedAt) / 1_000;
  await client.dispose();
  return pairs / elapsedS;
};

answerParent<AppendsOrder, number>(appended);
