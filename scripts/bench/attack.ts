import { createHmac } from "node:crypto";
import { connect, type Socket } from "node:net";
import { constants, getPriority, setPriority } from "node:os";
import { type Client, HOOK_SECRET, hookSource, signUp } from "../../test/support/client.ts";
import { type DnsServer, dnsServer } from "../../test/support/dns-server.ts";
import { measureLatency } from "./admission.ts";
import type { World } from "./bench-world.ts";
import { monotonicMs, sleep } from "./clock.ts";
import type { EngineSet } from "./engines.ts";
import { measureArrival } from "./pipeline.ts";
import { close, type Subject, setUp, upgrade, upToDate } from "./subject.ts";
import { amount, table } from "./table.ts";

type Attack = {
  readonly name: string;
  readonly times: "admission" | "delivery";
  start(attacker: Client): Promise<Attacking>;
};

/** `stop` resolves with the number of requests that were answered, or of begun ones if the attack completes none. */
type Attacking = { readonly stop: () => Promise<number> };

export type AttackOrder = {
  readonly only: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly say: (text: string) => void;
};

const VICTIM_PER_S = 100;
const ATTACK_FIRST_MS = 1_000;
const SENDERS = 4;
const UPLOADS = 34;
const UPLOAD_BYTES = 970_000;
const HANGING = 40;
const HANGING_EVERY_MS = 500;
/** The victim's p99 with the attacker may be at most this many times its p99 without. */
const RATIO_MAX = 1.5;

/** Uploads without a signature that stop one byte short of their end; each is begun again when it is cut. */
const slowUploads: Attack = {
  name: `${UPLOADS} slow uploads of ${UPLOAD_BYTES / 1_000} kB`,
  times: "admission",
  async start(attacker) {
    const { url } = await hookSource(attacker);
    const { hostname, port, pathname } = new URL(url);
    const sockets = new Set<Socket>();
    let isStopped = false;
    let count = 0;
    const upload = (): void => {
      if (isStopped) return;
      count += 1;
      const socket = connect(Number(port), hostname);
      sockets.add(socket);
      socket
        .on("error", () => undefined)
        .on("close", () => {
          sockets.delete(socket);
          upload();
        });
      socket.write(`POST ${pathname} HTTP/1.1\r\nHost: a\r\nContent-Length: ${UPLOAD_BYTES + 1}\r\n\r\n`);
      socket.write(Buffer.alloc(UPLOAD_BYTES));
    };
    for (let n = 0; n < UPLOADS; n += 1) upload();
    const stop = async (): Promise<number> => {
      isStopped = true;
      for (const socket of sockets) socket.destroy();
      return count;
    };
    return { stop };
  },
};

const sending = (name: string, policy: object, payload: object): Attack => ({
  name,
  times: "admission",
  async start(attacker) {
    const { id } = await attacker.make("/v1/policies", { name: "attack", ...policy });
    const { url } = await hookSource(attacker, { policy_id: id });
    const body = JSON.stringify(payload);
    const signature = createHmac("sha256", HOOK_SECRET).update(body).digest("hex");
    let isStopped = false;
    let count = 0;
    const sender = async (): Promise<void> => {
      while (!isStopped) {
        count += 1;
        const headers = { "x-signature": signature, "x-delivery-id": `attack-${count}` };
        await fetch(url, { method: "POST", headers, body })
          .then((response) => response.arrayBuffer())
          .catch(() => undefined);
      }
    };
    const senders = Array.from({ length: SENDERS }, sender);
    const stop = async (): Promise<number> => {
      isStopped = true;
      await Promise.all(senders);
      return count;
    };
    return { stop };
  },
});

const hangingNames: Attack = {
  name: `${HANGING} endpoints whose names hang`,
  times: "delivery",
  async start(attacker) {
    // The attacker needs another plan, because the free one has a single source.
    await upgrade(attacker, "scale");
    const sources = await Promise.all(
      Array.from({ length: HANGING }, async (_, n) => {
        const name = `hangs-${n}.example`;
        const endpoint = await attacker.make("/v1/endpoints", { name, url: `http://${name}/` });
        return hookSource(attacker, { endpoint_id: endpoint.id });
      }),
    );
    let [turn, count] = [0, 0];
    const answered = (): void => {
      count += 1;
    };
    const timer = setInterval(() => {
      turn += 1;
      for (const source of sources) source.send(`attack-${turn}`).then(answered, () => undefined);
    }, HANGING_EVERY_MS);
    const stop = async (): Promise<number> => {
      clearInterval(timer);
      return count;
    };
    return { stop };
  },
};

const TEXT = { t: "a".repeat(900_000) };
/** As many bytes as `TEXT`, but in many values, which take longer to read. */
const OBJECTS = { o: Array.from({ length: 75_000 }, (_, n) => ({ n })) };
const SIZES = Array.from({ length: 60 }, () => "size(payload.t) < 5").join(" || ");

const ATTACKS: readonly Attack[] = [
  slowUploads,
  hangingNames,
  sending("60 x size() over 900 kB", { deny: [{ name: "sizes", when: SIZES }] }, TEXT),
  sending("refused bodies of 900 kB", { require_fields: ["absent"] }, TEXT),
  sending("refused objects of 900 kB", { require_fields: ["absent"] }, OBJECTS),
];

const p99Of = async (world: World, subject: Subject, attack: Attack, seconds: number): Promise<number> =>
  attack.times === "admission"
    ? (await measureLatency(world, subject, VICTIM_PER_S, seconds)).latencyMs.p99
    : (await measureArrival(world, subject, VICTIM_PER_S, seconds)).sentToArrivalMs.p99;

const medianOf = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/**
 * A real attacker has its own machine. Here its client gets the lowest priority (on Linux a thread's, sched(7)), so
 * that the client's own work does not count against the service.
 */
const withLowestPriority = async <T>(work: () => Promise<T>): Promise<T> => {
  const before = getPriority();
  setPriority(constants.priority.PRIORITY_LOW);
  try {
    return await work();
  } finally {
    // Without a privilege the priority may stay low, so an error is ignored.
    try {
      setPriority(before);
    } catch {}
  }
};

const measureAttack = async (world: World, subject: Subject, attack: Attack, order: AttackOrder) => {
  const { rounds, seconds, say } = order;
  const alone: number[] = [];
  const beside: number[] = [];
  const perS: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    say(`${attack.name}, round ${round + 1} of ${rounds}`);
    const measureAlone = async (): Promise<void> => {
      await upToDate(subject);
      alone.push(await p99Of(world, subject, attack, seconds));
    };
    const measureBeside = async (): Promise<void> => {
      const { stop } = await attack.start(await signUp(subject.program.url));
      const from = monotonicMs();
      await sleep(ATTACK_FIRST_MS);
      beside.push(await p99Of(world, subject, attack, seconds));
      const tookMs = monotonicMs() - from;
      perS.push((await stop()) / (tookMs / 1_000));
    };
    const steps = round % 2 === 0 ? [measureAlone, measureBeside] : [measureBeside, measureAlone];
    for (const step of steps) await step();
  }
  const ratios = beside.map((value, round) => value / (alone[round] ?? Number.NaN));
  return {
    attack,
    alone: medianOf(alone),
    beside: medianOf(beside),
    ratio: medianOf(ratios),
    ratios,
    perS: medianOf(perS),
  };
};

const dnsEnv = (dns: DnsServer, set: EngineSet): EngineSet => ({
  ...set,
  open: async () => {
    const engines = await set.open();
    return {
      ...engines,
      env: { ...engines.env, DELIVERY_DNS_SERVERS: dns.address, LOG_LEVEL: "fatal", SIGNUP_PLAN: "free" },
    };
  },
});

export const measureAttacks = async (world: World, set: EngineSet, order: AttackOrder): Promise<string> => {
  const names = Array.from({ length: HANGING }, (_, n) => [`hangs-${n}.example`, "hangs"] as const);
  const dns = await dnsServer(Object.fromEntries(names));
  const subject = await setUp(world.receiverPort, dnsEnv(dns, set));
  try {
    await measureLatency(world, subject, VICTIM_PER_S, order.seconds);
    const lines: string[][] = [];
    for (const attack of ATTACKS.filter(({ name }) => name.includes(order.only))) {
      const measured = await withLowestPriority(() => measureAttack(world, subject, attack, order));
      const { alone, beside, ratio, ratios, perS } = measured;
      const spread = `${amount(Math.min(...ratios))} to ${amount(Math.max(...ratios))}`;
      const verdict = ratio <= RATIO_MAX ? "MET" : "MISSED";
      lines.push([
        attack.name,
        `${amount(perS)}/s`,
        attack.times,
        amount(alone),
        amount(beside),
        `${amount(ratio)} x`,
        spread,
        verdict,
      ]);
    }
    return table(
      ["attack", "its requests", "the victim's", "p99 alone, ms", "under attack, ms", "ratio", "rounds", ""],
      lines,
    );
  } finally {
    await close(subject);
    await dns.close();
  }
};
