import type { JsonObject } from "../../domain/json.ts";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import { erasureStream, personalData } from "../../src/erasure/personal-data.ts";
import { toEvents } from "../../src/streams/envelope.ts";
import { payloadStream, payloads } from "../../src/streams/payloads.ts";
import { type SeededRandom, seededRandom } from "./seeded-random.ts";

/** Longer than one append: it is kept in parts. */
const LONG_BYTES = 950_000;
const TEXTS = ["plain", "é€😀", 'quotes " and \\', "\u0000\u2028", "\ud800 a lone surrogate"];

export type Varied = {
  /** Records and payloads of `count` more events. */
  add(count: number): Promise<void>;
  /** Erases the payload of one of the events so far, as the API does. */
  erase(): Promise<void>;
  /** Events whose payloads were erased, and that did not come again. */
  readonly erased: ReadonlySet<string>;
};

/**
 * Writes what a service writes, as far as a copy could stumble over it: appends of several events, payloads in parts,
 * answers behind an erased payload, a payload that comes again after its erasure, an erasure that is recorded and not
 * done.
 */
export const variedLog = (log: EventLog, seed: number, longOnes = 0): Varied => {
  const random: SeededRandom = seededRandom(seed);
  const randomness = {
    bytes: (n: number) => Uint8Array.from({ length: n }, () => random.below(256)),
    number: random.next,
  };
  const keeper = payloads(log, randomness);
  const personal = personalData(log, randomness);
  const events: string[] = [];
  const erased = new Set<string>();
  let commands = 0;
  let second = 0;

  const envelope = () => {
    commands += 1;
    second += random.below(3);
    return {
      commandId: `cmd_${seed}_${commands}`,
      account: `acc_${random.below(3)}`,
      actor: { kind: "system", id: "test" } as const,
      trace: { trace_id: "1".repeat(32), span_id: "2".repeat(16) },
      at: new Date(Date.UTC(2026, 4, 5) + second * 1_000).toISOString(),
    };
  };
  const write = (stream: string, ...facts: readonly { type: string; data: JsonObject }[]) =>
    log.append(stream, "any", toEvents(facts, envelope()));

  const decided = (id: string, type: string, revision: number) =>
    write(`delivery-${id}`, { type, data: { event_id: id, payload: { revision } } });

  const keep = async (id: string, size: number): Promise<number> => {
    const text = TEXTS[random.below(TEXTS.length)] ?? "";
    const body = size === 0 ? Buffer.from(text) : Buffer.alloc(size, 0xff);
    const incoming = { body, contentType: "text/plain", contentEncoding: "", headers: { "x-n": `${commands}` } };
    return (await keeper.keepAgain(id, incoming, envelope())).revision;
  };

  const erase = async (id: string): Promise<void> => {
    await write(`delivery-${id}`, { type: "PayloadErased", data: { event_id: id, reason: "asked for", at: "" } });
    await log.erase(payloadStream(id));
    erased.add(id);
    if (random.below(3) === 0) await write(payloadStream(id), { type: "ResponseKept", data: { event_id: id } });
    if (random.below(3) > 0) return;
    await decided(id, "EventBlocked", await keep(id, 0));
    erased.delete(id);
  };

  /** A record with personal data, which may be erased, or whose erasure is recorded and not done. */
  const visited = async (isErased: boolean): Promise<void> => {
    const client = await personal.keep("account-acc_1", { ip: "192.0.2.1", user_agent: "é" }, envelope());
    await write("account-acc_1", { type: "Visited", data: { client } });
    if (!isErased) return;
    if (random.below(2) === 0) await personal.forget(client);
    await write(erasureStream(client.id), { type: "PersonalDataErased", data: { id: client.id, reason: "", at: "" } });
    if (random.below(2) === 0) await personal.forget(client);
  };

  return {
    erased,
    async add(count) {
      for (let n = 0; n < count; n += 1) {
        const id = `evt_${seed}_${events.length}`;
        events.push(id);
        const revision = await keep(id, n < longOnes ? LONG_BYTES : 0);
        await write(`ledger-pol_${random.below(4)}`, {
          type: "Reserved",
          data: { n, text: TEXTS[n % TEXTS.length] ?? "" },
        });
        await decided(id, "EventAdmitted", revision);
        if (random.below(2) === 0) {
          const started = { type: "AttemptStarted", data: { n } };
          await write(`delivery-${id}`, started, { type: "AttemptSucceeded", data: { n, cost: 0.1, big: 1e21 } });
          await write(payloadStream(id), { type: "ResponseKept", data: { event_id: id, number: 1 } });
        }
        if (random.below(4) === 0) await visited(random.below(2) === 0);
        if (random.below(5) === 0) await erase(events[random.below(events.length)] ?? id);
        if (random.below(20) === 0)
          await write(`delivery-${id}`, { type: "PayloadErased", data: { event_id: id, reason: "crashed", at: "" } });
      }
    },
    erase: () => erase(events[random.below(events.length)] ?? ""),
  };
};

/** Everything that is in a log, in its order, without what is the engine's own. */
export const contentOf = async (log: EventLog): Promise<readonly Omit<RecordedEvent, "position">[]> => {
  const found: Omit<RecordedEvent, "position">[] = [];
  for (let after: Position | null = null; ; ) {
    const page: readonly RecordedEvent[] = await log.readAll(after, 200);
    if (page.length === 0) return found;
    for (const { position, ...rest } of page) {
      found.push(rest);
      after = position;
    }
  }
};
