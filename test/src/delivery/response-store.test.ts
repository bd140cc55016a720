import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../domain/account/plans.ts";
import { delivery } from "../../../domain/delivery/decider.ts";
import { type ActiveDelivery, isActive } from "../../../domain/delivery/state.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { SendOutcome } from "../../../domain/ports/sender.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { LogUnavailable } from "../../../infra/log-errors.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { RESPONSE_HEAD_BYTES, ResponseStore } from "../../../src/delivery/response-store.ts";
import { byteAllowances } from "../../../src/ledgers/byte-allowances.ts";
import { ledgers } from "../../../src/ledgers/ledgers.ts";
import { placeStatus } from "../../../src/ledgers/place-status.ts";
import { NO_TRACE, toEvents } from "../../../src/streams/envelope.ts";
import { exchangesOf } from "../../../src/streams/exchanges.ts";
import { payloadStream, payloads } from "../../../src/streams/payloads.ts";
import { foldStream, type StreamState } from "../../../src/streams/run-command.ts";
import { at, deliveryFacts } from "../../support/history.ts";
import { losingLog } from "../../support/losing-log.ts";

const test = suite("response store");

const ACCOUNT = "acc_1";
const LIMIT = 6_400;
const BODY = "r".repeat(1_500);
const clock = { now: () => Date.parse(at(60)) };

const OUTBOUND = { shown: (headers: Readonly<Record<string, string>>) => headers };

const envelope = (commandId: string) => ({
  ...{ commandId, account: ACCOUNT, actor: { kind: "system", id: "test" } as const },
  ...{ trace: NO_TRACE, at: at(60) },
});

const SENT: SendOutcome = {
  ...{ outcome: "answered", statusCode: 200, headers: {}, body: Buffer.from(BODY), truncated: false },
  ...{ retryAfterMs: null, timings: { dns: 0, connect: 0, tls: 0, first_byte: 1, total: 1 } },
};

/** A process that stores answers, on the same log as others. */
const nodeOf = (log: EventLog) => {
  const onError = (error: unknown): never => {
    throw error;
  };
  const places = ledgers({
    ...{ log, clock, randomness, onError, orphanAgeMs: 0 },
    placeStatus: placeStatus(log, clock, randomness),
  });
  const accountOf = async () => ({ plan: { ...PLANS.free, storedBytesDay: LIMIT } });
  const allowances = byteAllowances({ ledgers: places, clock, randomness, accountOf, onError });
  return { allowances, store: new ResponseStore({ log, allowances, randomness, outbound: OUTBOUND }) };
};

type Attempted = { readonly id: string; readonly known: StreamState<ActiveDelivery> };

/** An event whose first attempt is under way. */
const attempted = async (log: EventLog, id: string): Promise<Attempted> => {
  const is = deliveryFacts(id, "end_1");
  const incoming = { body: Buffer.from("{}"), contentType: "application/json", contentEncoding: "", headers: {} };
  const kept = await payloads(log, randomness).keepAgain(id, incoming, envelope(`${id}/keep`));
  const admitted = is.admitted({ payload: { ...kept, content_type: "application/json", size: 2 } });
  await log.append(`delivery-${id}`, "absent", toEvents([admitted, is.started(1, 1)], envelope(`${id}/admit`)));
  const known = await foldStream(log, delivery, `delivery-${id}`);
  const { state } = known;
  if (!isActive(state)) throw new Error(`${id} is ${state.phase}`);
  return { id, known: { ...known, state } };
};

const storingOn = ({ store }: { readonly store: ResponseStore }, { id, known }: Attempted) =>
  store.storing({ job: { eventId: id, account: ACCOUNT }, known, sent: SENT, headers: {} }, envelope(`${id}/response`));

const keptOf = async (log: EventLog, { id }: Attempted) => (await exchangesOf(log, id, 0, [1])).responses.get(1);

test("two nodes store no more answers whole than the account's allowance has bytes for, and a head of each other one", async () => {
  const log = memoryEventLog();
  const first = nodeOf(log);
  const second = nodeOf(log);
  const lengths: number[] = [];
  for (let n = 0; n < 10; n += 1) {
    const event = await attempted(log, `evt_${n}`);
    await storingOn(n % 2 === 0 ? first : second, event)();
    const kept = await keptOf(log, event);
    lengths.push(kept?.body.length ?? 0);
    assert.is(kept?.head?.size ?? BODY.length, BODY.length);
  }
  const whole = lengths.filter((length) => length === BODY.length).length;
  assert.is(whole, Math.floor(LIMIT / BODY.length));
  assert.is(lengths.filter((length) => length === RESPONSE_HEAD_BYTES).length, 10 - whole);
});

for (const side of ["before", "behind"] as const) {
  test(`an append that is lost ${side} it is written is repeated with the same answer, which is counted once`, async () => {
    const log = memoryEventLog();
    const event = await attempted(log, "evt_1");
    const lost = losingLog(log, 1, side).log;
    let isLost = true;
    const outage: EventLog = { ...log, append: (...of) => (isLost ? lost : log).append(...of) };
    const { allowances } = nodeOf(log);
    const store = storingOn(
      { store: new ResponseStore({ log: outage, allowances, randomness, outbound: OUTBOUND }) },
      event,
    );
    assert.instance(await store().catch((error: unknown) => error), LogUnavailable);
    isLost = false;
    await store();
    await store();
    const kept = await log.read(payloadStream(event.id), null, 10);
    assert.is(kept.filter(({ type }) => type === "ResponseKept").length, 1);
    let left = 0;
    while ((await allowances.take(ACCOUNT, "stored", 100)) !== null) left += 100;
    assert.is(left, LIMIT - BODY.length);
  });
}

test("the bytes of an answer that an erasure has overtaken are given back", async () => {
  const log = memoryEventLog();
  const event = await attempted(log, "evt_1");
  const erased = {
    type: "PayloadErased",
    data: { event_id: event.id, reason: "asked for", up_to: 0, at: at(60), by: { kind: "member", id: "mem_1" } },
  };
  await log.append(`delivery-${event.id}`, 1, toEvents([erased], envelope("erase")));
  await log.append(payloadStream(event.id), 0, toEvents([{ type: "PayloadPartKept", data: {} }], envelope("later")));
  const node = nodeOf(log);
  await storingOn(node, event)();
  assert.is(await keptOf(log, event), undefined);
  assert.ok(await node.allowances.take(ACCOUNT, "stored", LIMIT));
});

test.run();
