import { createHash } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { endpoint as endpointDecider } from "../../../domain/endpoint/decider.ts";
import type { EventLog, GroupedAppend } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { OutcomeUnknown } from "../../../infra/log-errors.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { Attempts } from "../../../src/delivery/attempts.ts";
import { eraseEvent } from "../../../src/erasure/erasures.ts";
import { aggregates } from "../../../src/streams/aggregates.ts";
import { NO_TRACE, toEvents } from "../../../src/streams/envelope.ts";
import { payloadStream, payloads } from "../../../src/streams/payloads.ts";
import { enoughBytes } from "../../support/enough-bytes.ts";
import { at, deliveryFacts, endpointRegistered } from "../../support/history.ts";
import { testClock } from "../../support/http-app.ts";

/** The response and the outcome of an attempt, which are recorded together. */
const test = suite("records of attempts");

const ID = "evt_1";
const DELIVERY = `delivery-${ID}`;
const ENDS = ["EventAdmitted", "AttemptStarted", "AttemptSucceeded", "EventDelivered"];

const envelope = (commandId: string) => ({
  ...{ commandId, account: "acc_1", actor: { kind: "member", id: "mem_1" } as const },
  ...{ trace: NO_TRACE, at: at(60) },
});

type Group = EventLog["appendGroup"];

/** Sends the event once; `around` stands in for the group of the log, and `before` runs before anything is recorded. */
const recorded = async (around: (group: Group, log: EventLog) => Group, before?: (log: EventLog) => Promise<void>) => {
  const kept = memoryEventLog();
  const groups: (readonly GroupedAppend[])[] = [];
  let singles = 0;
  const appendGroup = around(kept.appendGroup, kept);
  const log: EventLog = {
    ...kept,
    append: (...of) => {
      singles += 1;
      return kept.append(...of);
    },
    appendGroup: (appends) => {
      groups.push(appends);
      return appendGroup(appends);
    },
  };
  const clock = testClock(Date.parse(at(60)));
  await kept.append("endpoint-end_1", "absent", toEvents([endpointRegistered()], envelope("register")));
  const incoming = { body: Buffer.from("{}"), contentType: "application/json", contentEncoding: "", headers: {} };
  const payload = await payloads(kept, randomness).keepAgain(ID, incoming, envelope("keep"));
  const admitted = deliveryFacts(ID).admitted({ payload: { ...payload, content_type: "application/json", size: 2 } });
  await kept.append(DELIVERY, "absent", toEvents([admitted], envelope("admit")));
  const streams = aggregates(log, clock);
  const attempts = new Attempts({
    ...{ allowances: enoughBytes, log, aggregates: streams, clock, randomness, payloads: payloads(log, randomness) },
    sender: {
      send: async () => ({
        ...{ outcome: "answered", statusCode: 200, headers: {}, body: Buffer.from("ok"), truncated: false },
        ...{ retryAfterMs: null, timings: { dns: 0, connect: 0, tls: 0, first_byte: 1, total: 1 } },
      }),
      close: async () => undefined,
    },
    ...{ node: "node_1", othersAreGone: true },
    outbound: { headers: () => ({}), shown: (headers) => headers },
    onError: (error) => assert.unreachable(String(error)),
  });
  const { state } = await streams.load(endpointDecider, "endpoint-end_1");
  const sent = await attempts.begin({ kind: "due", eventId: ID, account: "acc_1", endpointId: "end_1" }, state);
  if (sent.outcome !== "sent") throw new Error("nothing was sent");
  singles = 0;
  await before?.(kept);
  const known = await sent.record();
  const typesOf = async (stream: string) => (await kept.read(stream, null, 100)).map(({ type }) => type);
  return {
    ...{ known, groups, singles },
    delivery: await typesOf(DELIVERY),
    payload: await typesOf(payloadStream(ID)),
    ended: (await kept.read(DELIVERY, null, 100)).find(({ type }) => type === "AttemptSucceeded"),
    stored: (await kept.read(payloadStream(ID), null, 100)).find(({ type }) => type === "ResponseKept"),
  };
};

test("the response and the outcome go out in one group, in which the outcome follows the response", async () => {
  const { known, groups, singles, delivery, payload } = await recorded((group) => group);
  assert.equal(delivery, ENDS);
  assert.equal(payload, ["PayloadKept", "ResponseKept"]);
  assert.equal([known.revision, known.state.phase], [3, "delivered"]);
  const shown = groups.map((group) => group.map(({ stream, follows }) => ({ stream, follows })));
  assert.equal(shown, [
    [
      { stream: payloadStream(ID), follows: [] },
      { stream: DELIVERY, follows: [0] },
    ],
  ]);
  assert.is(singles, 0);
});

test("after an erasure the response is not stored, and the outcome is recorded all the same", async () => {
  // The lease has ended, else the erasure would be refused.
  const late = { ...envelope("erase"), at: at(600) };
  const erase = async (log: EventLog): Promise<void> => {
    const erased = await eraseEvent(log, { id: ID, cause: { reason: "asked for" }, envelope: late });
    assert.is(erased.outcome, "accepted");
  };
  const { delivery, payload } = await recorded((group) => group, erase);
  assert.equal(delivery, [...ENDS.slice(0, 2), "PayloadErased", ...ENDS.slice(2)]);
  assert.not.ok(payload.includes("ResponseKept"), `${payload}`);
});

test("another record in the delivery's stream makes the outcome be decided anew", async () => {
  const other = { type: "CancellationRequested", data: { event_id: ID, reason: "asked for", at: at(61) } } as const;
  const { delivery, payload } = await recorded(
    (group) => group,
    async (log) => void (await log.append(DELIVERY, 1, toEvents([other], envelope("cancel")))),
  );
  assert.equal(delivery, [...ENDS.slice(0, 2), "CancellationRequested", ...ENDS.slice(2)]);
  assert.equal(payload, ["PayloadKept", "ResponseKept"]);
});

test("the record of an attempt's end commits to what is stored of the exchange, and to nothing that is not", async () => {
  for (const isRefused of [false, true]) {
    const { ended, stored } = await recorded((group) =>
      isRefused ? async () => [{ outcome: "refused" }, { outcome: "refused" }] : group,
    );
    const { salt, headers_salt, body, headers, request_headers } = stored?.data ?? {};
    const hash = (of: unknown, bytes: string) =>
      createHash("sha256")
        .update(Buffer.from(String(of), "base64"))
        .update(bytes)
        .digest("hex");
    const heads = JSON.stringify({ request: request_headers, response: headers });
    const id = `${ID}/0/attempts/1`;
    assert.equal(ended?.data.kept, {
      headers: { id: `${id}/headers`, commitment: hash(headers_salt, heads), size: heads.length },
      response: { id, commitment: hash(salt, String(body)), size: 2 },
    });
    assert.is(Buffer.from(String(salt), "base64").length, 16);
    assert.is(Buffer.from(String(headers_salt), "base64").length, 16);
    assert.is.not(salt, headers_salt);
  }
});

const unknown = (): never => {
  throw new OutcomeUnknown("the connection broke");
};

test("a group of which nobody knows whether it was written is written once", async () => {
  for (const written of [[], [0], [1], [0, 1]]) {
    const { known, delivery, payload } = await recorded((group) => async (appends) => {
      const some = appends.filter((_, index) => written.includes(index));
      if (some.length > 0) await group(some);
      return unknown();
    });
    assert.equal(delivery, ENDS, `written: ${written}`);
    assert.equal(payload, ["PayloadKept", "ResponseKept"], `written: ${written}`);
    assert.equal([known.revision, known.state.phase], [3, "delivered"]);
  }
});

test.run();
