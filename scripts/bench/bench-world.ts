import { HOOK_SECRET } from "../../test/support/client.ts";
import { type Child, startChild } from "./child.ts";
import type { LoadCredit, LoadOrder, LoadOutcome } from "./load.ts";
import type { ReceiverAnswer, ReceiverQuestion } from "./receiver.ts";
import type { Subject } from "./subject.ts";

export type World = {
  readonly load: Child<LoadOrder | LoadCredit, LoadOutcome | null>;
  readonly receiver: Child<ReceiverQuestion, ReceiverAnswer>;
  readonly receiverPort: number;
  close(): Promise<void>;
};

export const openWorld = async (): Promise<World> => {
  const load = startChild<LoadOrder | LoadCredit, LoadOutcome | null>("load");
  const receiver = startChild<ReceiverQuestion, ReceiverAnswer>("receiver");
  const { port } = await receiver.ask({ kind: "listen" });
  return {
    load,
    receiver,
    receiverPort: port,
    async close() {
      await Promise.all([load.close(), receiver.close()]);
    },
  };
};

let runs = 0;
const nextRun = (): number => {
  runs += 1;
  return runs;
};

export type Send = Pick<LoadOrder, "connections" | "seconds" | "rate"> & { readonly credit?: number };

/** `report.ts` compares with figures of other gateways, which were measured with the same number of connections. */
export const CONNECTIONS = 32;
export const OPEN_CONNECTIONS = 256;

export const newOrder = (url: string, send: Send): LoadOrder => ({ url, secret: HOOK_SECRET, run: nextRun(), ...send });

export const orderTo = (subject: Subject, path: string, send: Send): LoadOrder =>
  newOrder(`${subject.program.url}${path}`, send);

/** Throws if any request was refused, because a refusal takes another path than what is measured. */
export const sendLoad = async ({ load }: World, order: LoadOrder): Promise<LoadOutcome> => {
  const outcome = await load.ask(order);
  if (outcome === null) throw new Error("the load has no outcome");
  if (outcome.accepted !== outcome.sent) {
    const statuses = JSON.stringify(outcome.refused);
    throw new Error(`${outcome.accepted} of ${outcome.sent} requests were accepted; the others: ${statuses}`);
  }
  return outcome;
};

/** Accepted requests a second. Requests that are still under way at the load's end are not counted. */
export const acceptedPerSecond = ({ answeredAt, startedAt, endedAt }: LoadOutcome): number =>
  answeredAt.reduce((count, at) => (at <= endedAt ? count + 1 : count), 0) / ((endedAt - startedAt) / 1_000);

export const latencies = ({ sentAt, answeredAt }: LoadOutcome): Float64Array =>
  answeredAt.map((at, n) => at - (sentAt[n] ?? Number.NaN));
