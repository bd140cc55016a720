import { once } from "node:events";
import { Writable } from "node:stream";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type EventStreamSource, eventStream } from "../../../src/feed/event-stream.ts";
import { EVENT_STREAM_TIMES } from "../../../src/feed/sent-events.ts";
import { history } from "../../support/history.ts";
import { POSITIONS } from "../../support/http-app.ts";
import { until } from "../../support/until.ts";

const test = suite("a stream of server-sent events");

const RECORDS = 100;
const { events: records, add } = history();
for (let n = 0; n < RECORDS; n += 1) add("x-x", { type: "Happened", data: { text: "x".repeat(4_000) } });

/** A stream of all records for a client that reads by hand; `revoke` is what ends the credential. */
const world = (over: Partial<EventStreamSource> = {}) => {
  const state = { isAllowed: true, asked: 0, ended: 0, watching: 0 };
  let onChanged: () => void = () => undefined;
  const stream = eventStream({
    next: 0,
    lastId: "start",
    newerThan: null,
    count: {
      count: () => RECORDS,
      changed: () => new Promise(() => undefined),
      wake: () => undefined,
      end: () => undefined,
    },
    read: async (index, limit) => records.slice(index, index + limit),
    positions: POSITIONS,
    isStillAllowed: async () => {
      state.asked += 1;
      return state.isAllowed;
    },
    watchCredential(callBack) {
      onChanged = callBack;
      state.watching += 1;
      return () => {
        state.watching -= 1;
      };
    },
    closing: new AbortController().signal,
    times: EVENT_STREAM_TIMES,
    onEnd: () => {
      state.ended += 1;
    },
    ...over,
  });
  return {
    stream,
    state,
    changed: () => onChanged(),
    revoke() {
      state.isAllowed = false;
      onChanged();
    },
  };
};

test("records buffered for a slow client are not sent after the end of its credential", async () => {
  const { stream, state, revoke } = world();
  const taken: string[] = [];
  let take: () => void = () => undefined;
  const client = new Writable({
    highWaterMark: 1,
    write(chunk, _encoding, done) {
      taken.push(String(chunk));
      take = done;
    },
  });
  stream.pipe(client);
  await until("something is kept", () => stream.readableLength >= stream.readableHighWaterMark);
  const closed = once(stream, "close");
  revoke();
  await closed;
  take();
  await new Promise(setImmediate);
  assert.is(taken.length, 1);
  assert.equal([state.ended, state.watching], [1, 0]);
});

test("a credential that ends while a check is under way is checked again", async () => {
  const answers: ((isAllowed: boolean) => void)[] = [];
  const { stream, changed } = world({ isStillAllowed: () => new Promise((resolve) => answers.push(resolve)) });
  changed();
  changed();
  assert.is(answers.length, 1);
  answers[0]?.(true);
  await until("it is asked again", () => answers.length === 2);
  answers[1]?.(false);
  stream.resume();
  await once(stream, "end");
});

test("a credential that cannot be checked ends the stream with the error", async () => {
  const failure = new Error("the log is away");
  const { stream, changed } = world({ isStillAllowed: () => Promise.reject(failure) });
  const failed = once(stream, "error");
  changed();
  assert.equal(await failed, [failure]);
});

test("the credential is asked for before each record", async () => {
  const { stream, state } = world();
  stream.setEncoding("utf8");
  let text = "";
  stream.on("data", (chunk) => {
    text += chunk;
    if (text.includes("id: 20-")) state.isAllowed = false;
  });
  await once(stream, "end");
  const ids = [...text.matchAll(/^id: (\d+)-/gm)].map(([, id]) => Number(id));
  // The records that were pushed before the client had read the 20th.
  assert.ok((ids.at(-1) ?? 0) < 20 + 16, `${ids.at(-1)}`);
  assert.ok(state.asked > 20);
});

test.run();
