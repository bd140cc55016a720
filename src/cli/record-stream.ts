import { type Api, backOff, isPassing, Refusal } from "./api.ts";

/** A record of the account, as `GET /v1/audit/stream` tells it. */
export type StreamRecord = {
  /** As in the log: EventAdmitted. */
  readonly type: string;
  /** The part of its stream before and behind the first dash: delivery, evt_…. */
  readonly category: string;
  readonly id: string;
  readonly position: string;
  readonly time: string;
  readonly data: Readonly<Record<string, unknown>>;
};

export type Heard = { readonly kind: "open" } | { readonly kind: "record"; readonly record: StreamRecord };

type Message = { readonly id: string | null; readonly data: string | null };

/** The service sends something every 15 s: three of those without, and the connection is gone. */
const SILENT_MS_MAX = 45_000;
const TYPE = /^io\.countersign\.(.+)\.v\d+$/;

/** Blocks of server-sent events (WHATWG HTML, section 9.2.6), of which this service uses `id` and one line of `data`. */
const messageOf = (block: string): Message => {
  let [id, data]: (string | null)[] = [null, null];
  for (const line of block.split("\n")) {
    if (line.startsWith("id:")) id = line.slice(3).trimStart();
    else if (line.startsWith("data:")) data = line.slice(5).trimStart();
  }
  return { id: id ?? null, data: data ?? null };
};

async function* messagesOf(body: AsyncIterable<Uint8Array>, onHeard: () => void): AsyncGenerator<Message> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    onHeard();
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) yield messageOf(block);
  }
}

type Told = Readonly<Record<"type" | "subject" | "position" | "time", string>> & Pick<StreamRecord, "data">;

const recordOf = (text: string): StreamRecord => {
  // A CloudEvent of this service (`src/feed/cloud-event.ts`).
  const { type, subject, position, time, data } = JSON.parse(text) as Told;
  const dash = subject.indexOf("-");
  return {
    type: TYPE.exec(type)?.[1] ?? type,
    category: subject.slice(0, dash),
    id: subject.slice(dash + 1),
    position,
    time,
    data: data ?? {},
  };
};

/**
 * The account's records from now on, without a gap or a repeat across connections: whenever one ends, another goes on
 * behind the last record. The first thing heard is that it is open: what is asked for afterwards is told from there on.
 */
export async function* followRecords(api: Api, note: (line: string) => void): AsyncGenerator<Heard, never> {
  let lastId: string | null = null;
  let failures = 0;
  for (;;) {
    const connection = new AbortController();
    const watch = setTimeout(() => connection.abort(), SILENT_MS_MAX);
    try {
      const headers: Record<string, string> = { accept: "text/event-stream" };
      if (lastId !== null) headers["last-event-id"] = lastId;
      const { body } = await api.open("/v1/audit/stream", headers, connection.signal);
      if (body === null) throw new Refusal(`${api.origin} answered without a stream`, 0);
      for await (const { id, data } of messagesOf(body, () => watch.refresh())) {
        if (failures > 0) note("connected again");
        failures = 0;
        if (lastId === null && id !== null) yield { kind: "open" };
        lastId = id ?? lastId;
        if (data !== null) yield { kind: "record", record: recordOf(data) };
      }
    } catch (error) {
      // What a break of the connection throws is a TypeError of fetch's, or the abort of the watch.
      const isBroken = connection.signal.aborted || error instanceof TypeError || isPassing(error);
      if (!isBroken || lastId === null) throw error;
    } finally {
      clearTimeout(watch);
      connection.abort();
    }
    failures += 1;
    if (failures === 1) note("the connection has ended; connecting again");
    await backOff(failures);
  }
}
