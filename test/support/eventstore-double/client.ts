/** What the tests of the double ask of the real client, without the client's wrappings. */

import {
  type AllStreamRecordedEvent,
  type EventStoreDBClient,
  type JSONEventData,
  jsonEvent,
  type ReadAllOptions,
  type ResolvedEvent,
} from "@eventstore/db-client";
import * as assert from "uvu/assert";

/** What takes an append off the batch path: it then has a call, and a deadline, of its own. */
export const OWN_CALL = { credentials: { username: "a", password: "b" } } as const;

export const event = (): JSONEventData => jsonEvent({ type: "Happened", data: { n: 1 }, metadata: { m: 1 } });

type Event = NonNullable<ResolvedEvent["event"]> | AllStreamRecordedEvent;
type Reading = AsyncIterable<{ readonly event?: Event | undefined }>;

export const collect = async (reading: Reading): Promise<readonly Event[]> => {
  const events: Event[] = [];
  for await (const resolved of reading) if (resolved.event !== undefined) events.push(resolved.event);
  return events;
};

export const readStreamOf = (client: EventStoreDBClient, stream: string): Promise<readonly Event[]> =>
  collect(client.readStream(stream));

export const readAllOf = (client: EventStoreDBClient, options: ReadAllOptions = {}): Promise<readonly Event[]> =>
  collect(client.readAll(options));

/** What the errors of the client have between them; which are there depends on the type. */
export type ClientError = {
  readonly message: string;
  readonly type?: string;
  readonly code?: number;
  readonly actualVersion?: unknown;
  readonly expectedVersion?: unknown;
  readonly maxAppendSize?: number;
  readonly streamName?: string;
  readonly leader?: unknown;
};

export const rejection = async (promise: Promise<unknown>): Promise<ClientError> => {
  const outcome = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  assert.instance(outcome, Error);
  // Checked above; the further members are all optional.
  return outcome as ClientError;
};
