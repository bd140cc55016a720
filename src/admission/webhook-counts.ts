import type { CallsEvent } from "../../domain/calls/events.ts";
import type { Client } from "../../domain/personal/events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { SignatureFailureReason, SourceEvent } from "../../domain/source/events.ts";
import { callsStream } from "../calls/call-counts.ts";
import type { Tallies } from "../calls/tallies.ts";
import { COUNTS_ACTOR, type Draft, type Sample, type Tally } from "../calls/tally.ts";
import { clientOf } from "../erasure/personal-data.ts";
import { AccountWork } from "../gates/account-work.ts";
import { type Fact, NO_TRACE, type Trace } from "../streams/envelope.ts";

export type WebhookCounts = {
  signatureFailed(
    source: { account: string; id: string },
    reason: SignatureFailureReason,
    ip: string,
    userAgent: string,
  ): void;
  duplicate(event: { account: string; id: string }, trace: Trace): void;
  reused(event: { account: string; id: string }, trace: Trace): void;
};

type SignatureFailures = Tally & { add(reason: SignatureFailureReason, client: () => Client): void };
type Repeat = "duplicates" | "reused";
type Repeats = Tally & { add(as: Repeat): void };

/**
 * In a minute, the repeats of this many of an account's events are recorded separately, which costs an append a second
 * for each event. Repeats of further events are counted together.
 */
const REPEAT_RECORDS_A_MINUTE_MAX = 100;
const MINUTE_MS = 60_000;

const signatureFailuresOf = (account: string, sourceId: string, minute: string): SignatureFailures => {
  let counts: Partial<Record<SignatureFailureReason, number>> = {};
  const samples = new Map<SignatureFailureReason, Sample>();

  const fact = (of: typeof counts, at: string): SourceEvent => {
    const clients = [...samples].flatMap(([reason, { commitment }]) =>
      of[reason] === undefined || commitment === null ? [] : [[reason, commitment] as const],
    );
    const data = { source_id: sourceId, minute, counts: of, clients: Object.fromEntries(clients), at };
    return { type: "SourceRejectsCounted", data };
  };

  return {
    account,
    stream: `source-${sourceId}`,
    actor: COUNTS_ACTOR,
    trace: NO_TRACE,
    isOfMinute: true,
    add(reason, client) {
      counts[reason] = (counts[reason] ?? 0) + 1;
      if (!samples.has(reason)) samples.set(reason, { client: client(), commitment: null });
    },
    take(at): Draft | null {
      const taken = counts;
      counts = {};
      if (Object.keys(taken).length === 0) return null;
      return { samples: [...samples.values()], facts: () => [fact(taken, at)] };
    },
  };
};

const repeatsOf = (account: string, eventId: string, trace: Trace): Repeats => {
  const counted = { duplicates: 0, reused: 0 };
  return {
    account,
    stream: `delivery-${eventId}`,
    actor: COUNTS_ACTOR,
    trace,
    isOfMinute: false,
    add(as) {
      counted[as] += 1;
    },
    take(at) {
      const { duplicates, reused } = counted;
      const of = (type: string, count: number): readonly Fact[] =>
        count === 0 ? [] : [{ type, data: { event_id: eventId, count, at } }];
      const facts = [...of("DuplicatesCounted", duplicates), ...of("DeliveryIdReused", reused)];
      return { samples: [], facts: () => facts };
    },
  };
};

const moreRepeatsOf = (account: string, minute: string): Repeats => {
  const counted = { duplicates: 0, reused: 0 };
  return {
    ...{ account, stream: callsStream(account), actor: COUNTS_ACTOR, trace: NO_TRACE, isOfMinute: true },
    add(as) {
      counted[as] += 1;
    },
    take(at) {
      const { duplicates, reused } = counted;
      counted.duplicates = 0;
      counted.reused = 0;
      const count = duplicates + reused;
      if (count === 0) return null;
      const event: CallsEvent = { type: "MoreRepeatsCounted", data: { minute, count, duplicates, reused, at } };
      return { samples: [], facts: () => [event] };
    },
  };
};

export const webhookCounts = (tallies: Pick<Tallies, "of" | "isOpen">, clock: Clock): WebhookCounts => {
  const records = new AccountWork(REPEAT_RECORDS_A_MINUTE_MAX, clock, MINUTE_MS);

  const tallyOf = (account: string, id: string, trace: Trace): Repeats | null => {
    const key = `repeats ${id}`;
    if (!tallies.isOpen(key)) {
      if (!records.has(account)) {
        return tallies.of(`more repeats ${account}`, (minute) => moreRepeatsOf(account, minute));
      }
      records.add(account, 1);
    }
    return tallies.of(key, () => repeatsOf(account, id, trace));
  };

  const countRepeat = ({ account, id }: { account: string; id: string }, trace: Trace, as: Repeat): void =>
    tallyOf(account, id, trace)?.add(as);

  return {
    signatureFailed({ account, id }, reason, ip, userAgent) {
      tallies
        .of(`rejects ${id}`, (minute) => signatureFailuresOf(account, id, minute))
        ?.add(reason, () => clientOf({ ip, userAgent }));
    },
    duplicate: (event, trace) => countRepeat(event, trace, "duplicates"),
    reused: (event, trace) => countRepeat(event, trace, "reused"),
  };
};
