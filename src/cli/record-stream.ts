import { type Api, backOff, isPassing, Refusal } from "./api.ts";

/** A record from `GET /v1/audit/stream`. */
export type StreamRecord = {
  readonly type: string;
  /** `category` and `id` are the parts of the stream's name before and after its first dash. */
  readonly category: string;
  readonly id: string;
  readonly position: string;
  readonly time: string;
  /** The id of the trace in which it was written; null if it was written in none. */
  readonly trace: string | null;
  readonly data: Readonly<Record<string, unknown>>;
};

/** `position`: the stream has everything after it; null if the service does not say it. */
export type StreamItem =
  | { readonly kind: "open"; readonly position: string | null }
  | { readonly kind: "record"; readonly record: StreamRecord };

type Message = { readonly id: string | null; readonly data: string | null };

/** The service sends something every 15 s, so a connection that was silent this long is dead. */
const SILENT_MS_MAX = 45_000;
const TYPE = /^io\.countersign\.(.+)\.v\d+$/;

/** Parses one server-sent event (WHATWG HTML, section 9.2.6). This service uses only `id` and one line of `data`. */
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

type CloudEvent = Readonly<Record<"type" | "subject" | "position" | "time", string>> &
  Pick<StreamRecord, "data"> & { readonly traceparent?: string };

const recordOf = (text: string): StreamRecord => {
  // The text is a CloudEvent that this service made (`src/feed/cloud-event.ts`), so it is not checked.
  const { type, subject, position, time, data, traceparent } = JSON.parse(text) as CloudEvent;
  const dash = subject.indexOf("-");
  return {
    type: TYPE.exec(type)?.[1] ?? type,
    category: subject.slice(0, dash),
    id: subject.slice(dash + 1),
    position,
    time,
    trace: traceparent?.split("-")[1] ?? null,
    data: data ?? {},
  };
};

/**
 * Yields "open", then all records of the account from then on, without a gap or a repeat across connections. State that
 * is read with the position of "open" as `after` is continued by the records, of which it may show the first ones.
 */
export async function* followRecords(api: Api, note: (line: string) => void): AsyncGenerator<StreamItem, never> {
  let lastId: string | null = null;
  let failures = 0;
  for (;;) {
    const connection = new AbortController();
    const watch = setTimeout(() => connection.abort(), SILENT_MS_MAX);
    try {
      const headers: Record<string, string> = { accept: "text/event-stream" };
      if (lastId !== null) headers["last-event-id"] = lastId;
      const answer = await api.open("/v1/audit/stream", headers, connection.signal);
      const { body } = answer;
      if (body === null) throw new Refusal(`${api.origin} answered without a stream`, 0);
      for await (const { id, data } of messagesOf(body, () => watch.refresh())) {
        if (failures > 0) note("connected again");
        failures = 0;
        if (lastId === null && id !== null)
          yield { kind: "open", position: answer.headers.get("countersign-position") };
        lastId = id ?? lastId;
        if (data !== null) yield { kind: "record", record: recordOf(data) };
      }
    } catch (error) {
      // fetch throws a TypeError if the connection breaks, and the watch aborts a silent one; both are connected again.
      const isBroken = connection.signal.aborted || error instanceof TypeError || isPassing(error);
      if (!isBroken || lastId === null) throw error;
    } finally {
      clearTimeout(watch);
      connection.abort();
    }
    failures += 1;
    if (failures === 1) note("the connection ended; connecting again");
    await backOff(failures);
  }
}
