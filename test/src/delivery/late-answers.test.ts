import { suite } from "uvu";
import * as assert from "uvu/assert";
import { endpoint as endpointDecider } from "../../../domain/endpoint/decider.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { HttpSender } from "../../../domain/ports/sender.ts";
import { randomId } from "../../../infra/crypto/ids.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { LogUnavailable } from "../../../infra/log-errors.ts";
import { Attempts } from "../../../src/delivery/attempts.ts";
import { erasureReactions } from "../../../src/erasure/erasures.ts";
import { personalData } from "../../../src/erasure/personal-data.ts";
import { isProblem } from "../../../src/http/route.ts";
import { erasePayload } from "../../../src/routes/events/event-payload.ts";
import { aggregates } from "../../../src/streams/aggregates.ts";
import { NO_TRACE, toEvents } from "../../../src/streams/envelope.ts";
import { payloadStream, payloads } from "../../../src/streams/payloads.ts";
import { appendingLog } from "../../support/appending-log.ts";
import { callOf } from "../../support/call.ts";
import { enoughBytes } from "../../support/enough-bytes.ts";
import { at, deliveryFacts, endpointRegistered } from "../../support/history.ts";
import { testClock } from "../../support/http-app.ts";
import { LOGS_WITH_BYTES } from "../../support/logs-with-bytes.ts";
import { addressed } from "../../support/personal-words.ts";

/** A receiver's answer is stored before the end of its attempt is recorded, and that may be long after the lease. */

const ENDPOINT_ID = "end_1";
const SECONDS = 60;
/** The lease has ended by then. */
const ERASED_AT = 600;

type Story = {
  /** Of the second attempt: the answer to the first was lost with its node. */
  readonly attempt: 1 | 2;
  /** Before which of the log's calls the answer arrives, 1-based: those of the erasure, then those of the next start. */
  readonly arrivesAt: number;
  /** The node ends as soon as the answer is stored. */
  readonly nodeDies: boolean;
  /** The process that erases ends between the record and the erasure. */
  readonly eraserDies: boolean;
};

const gate = () => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
};

const answering = (text: string): HttpSender => ({
  send: async () => ({
    ...{ outcome: "answered", statusCode: 200, headers: {}, body: Buffer.from(text), truncated: false },
    ...{ retryAfterMs: null, timings: { dns: 0, connect: 0, tls: 0, first_byte: 1, total: 1 } },
  }),
  close: async () => undefined,
});

/** Tells the story in a log; how many calls it made. */
const told = async (
  log: EventLog,
  secret: string,
  { attempt, arrivesAt, nodeDies, eraserDies }: Story,
): Promise<number> => {
  const id = randomId("evt_", randomness);
  const is = deliveryFacts(id, ENDPOINT_ID);
  const clock = testClock(Date.parse(at(SECONDS)));
  const envelope = (commandId: string, seconds = SECONDS) => ({
    ...{ commandId: `${commandId} ${id}`, account: "acc_1", actor: { kind: "member", id: "mem_1" } as const },
    ...{ trace: NO_TRACE, at: at(seconds) },
  });
  const incoming = { body: Buffer.from(secret), contentType: "text/plain", contentEncoding: "", headers: {} };
  const kept = await payloads(log, randomness).keepAgain(id, incoming, envelope("keep"));
  const admitted = is.admitted({ payload: { ...kept, content_type: "text/plain", size: incoming.body.length } });
  const first = attempt === 1 ? [] : [is.started(1, 1), is.attemptFailed(1, 2, at(3))];
  await log.append(`delivery-${id}`, "absent", toEvents([admitted, ...first], envelope("admit")));

  const late = gate();
  const answered = gate();
  const died = gate();
  const neverAgain = new Promise<never>(() => undefined);
  let isGone = false;
  const appendLate: EventLog["append"] = async (stream, expected, events) => {
    if (isGone) return neverAgain;
    if (events[0]?.type !== "ResponseKept") return log.append(stream, expected, events);
    answered.open();
    await late.opened;
    const appended = await log.append(stream, expected, events);
    if (!nodeDies) return appended;
    isGone = true;
    died.open();
    return neverAgain;
  };
  const nodeLog: EventLog = {
    ...appendingLog(log, appendLate),
    async read(...of) {
      if (isGone) return neverAgain;
      return log.read(...of);
    },
  };
  const node = new Attempts({
    allowances: enoughBytes,
    ...{ log: nodeLog, aggregates: aggregates(log, clock), clock, randomness, payloads: payloads(log, randomness) },
    ...{ sender: answering(secret), node: "node_1", othersAreGone: false },
    outbound: { headers: () => ({}), shown: (headers) => headers },
    onError: (error) => assert.unreachable(String(error)),
  });
  const { state: endpoint } = await aggregates(log, clock).load(endpointDecider, `endpoint-${ENDPOINT_ID}`);
  const begun = await node.begin({ kind: "due", eventId: id, account: "acc_1", endpointId: ENDPOINT_ID }, endpoint);
  if (begun.outcome !== "sent") throw new Error("nothing was sent");
  const recording = Promise.race([begun.record(), died.opened]);
  await answered.opened;

  let calls = 0;
  const before = async (): Promise<void> => {
    calls += 1;
    if (calls !== arrivesAt) return;
    late.open();
    await recording;
  };
  const watched: EventLog = {
    ...log,
    append: (...of) => before().then(() => log.append(...of)),
    last: (...of) => before().then(() => log.last(...of)),
    read: (...of) => before().then(() => log.read(...of)),
    erase: (...of) => before().then(() => log.erase(...of)),
  };
  const erase = (): Promise<void> => Promise.reject(new LogUnavailable("the process is gone"));
  const call = callOf({
    principal: {
      kind: "member",
      account: "acc_1",
      id: "mem_1",
      ...addressed("a@a.example"),
      role: "admin",
      session: "s",
    },
    body: { reason: "asked for" },
    envelope: envelope("erase", ERASED_AT),
  });
  const erasing = erasePayload(
    { log: eraserDies ? { ...watched, erase } : watched, personal: personalData(log, randomness) },
    id,
    call,
  );
  const where = JSON.stringify({ attempt, arrivesAt, nodeDies, eraserDies });
  if (eraserDies) assert.instance(await erasing.catch((error: unknown) => error), LogUnavailable, where);
  else assert.not(isProblem(await erasing), where);
  const [reaction] = erasureReactions(watched);
  const erased = (await log.read(`delivery-${id}`, null, 100)).filter(({ type }) => type === "PayloadErased");
  assert.ok(erased.length > 0, where);
  for (const record of erased) await reaction?.run(record);
  late.open();
  await recording;
  assert.equal(await log.read(payloadStream(id), null, 10), [], where);
  return calls;
};

for (const [engine, open] of Object.entries(LOGS_WITH_BYTES)) {
  const test = suite(`late answers: ${engine}`);

  test("a receiver's answer never outlives an erasure, whenever it arrives and whoever dies", async () => {
    const { log, close, holds, remove } = await open();
    const secrets: string[] = [];
    try {
      await log.append(
        `endpoint-${ENDPOINT_ID}`,
        "absent",
        toEvents([endpointRegistered(ENDPOINT_ID)], {
          ...{ commandId: "register", account: "acc_1", actor: { kind: "system", id: "test" } },
          ...{ trace: NO_TRACE, at: at(0) },
        }),
      );
      for (const attempt of [1, 2] as const)
        for (const nodeDies of [false, true])
          for (const eraserDies of [false, true])
            for (let arrivesAt = 1, calls = 1; arrivesAt <= calls + 1; arrivesAt += 1) {
              const secret = `«secret ${secrets.length}»`;
              calls = await told(log, secret, { attempt, arrivesAt, nodeDies, eraserDies });
              assert.ok(calls > 3, `${calls}`);
              secrets.push(secret);
            }
      await close();
      assert.equal(secrets.filter(holds), []);
    } finally {
      await close();
      remove?.();
    }
  });

  test.run();
}
