import type { CallsEvent } from "../../domain/calls/events.ts";
import type { Origin } from "../../domain/delivery/events.ts";
import type { Commitment } from "../../domain/evidence/commitment.ts";
import type { GateResult } from "../../domain/gate/verdict.ts";
import type { Client } from "../../domain/personal/events.ts";
import type { Actor } from "../../domain/ports/event-log.ts";
import type { ReplayFilter } from "../../domain/replay/events.ts";
import { NO_TRACE, type Trace } from "../streams/envelope.ts";
import type { ProblemCode } from "../streams/problems.ts";
import type { Tallies } from "./tallies.ts";
import { COUNTS_ACTOR, type Sample, type Tally } from "./tally.ts";

export type Caller = {
  readonly account: string;
  readonly actor: Actor;
  readonly client: Client;
  readonly trace: Trace;
};

export type RefusedCall = Caller & {
  readonly problem: ProblemCode;
  readonly detail: string;
  readonly route: string;
  /** What the call was about. The id is known to belong to the account, and names the stream `calls-<subject>`. */
  readonly subject: string;
  readonly target: string | null;
  readonly holds: boolean;
};

export type Stranger = ProblemCode | "billing-link";

/** The methods are called while a request is answered, so they never throw and never wait. */
export type CallCounts = {
  refused(call: RefusedCall): void;
  stranger(what: Stranger): void;
  requestRefused(request: { readonly account: string; readonly origin: Origin }, gate: GateResult | undefined): void;
  /** Counts that the caller was shown the payload with nothing hidden. */
  payloadRead(by: Caller, subject: string): void;
  replayTried(by: Caller, tried: { readonly filter: ReplayFilter; readonly events: number }): void;
};

/**
 * At most this many kinds of calls of one account and minute have a record each; further kinds are counted together, so
 * that a flood cannot fill the log. Each group has its own limit, so that a flood in one group does not hide the calls
 * of another.
 */
const KINDS_A_MINUTE_MAX = { refused: 30, outside: 10, read: 20, tried: 5 } as const;
type Group = keyof typeof KINDS_A_MINUTE_MAX;
const KINDS_OF_ACTOR_MAX = 10;
/** Limit for each subject, so that a revoked key in use leaves room to record a guessed password with its address. */
const KINDS_OF_OUTSIDE_SUBJECT_MAX = 4;
const LISTED_MAX = 500;
const DETAIL_LENGTH_MAX = 200;

export const callsStream = (subject: string): string => `calls-${subject}`;

type CallCount = { readonly minute: string; readonly count: number; readonly at: string };
type Counter = Tally & { add(): void };

const counterOf = (
  about: Pick<Tally, "account" | "stream" | "actor" | "trace">,
  minute: string,
  samples: readonly Sample[],
  eventOf: (taken: CallCount) => CallsEvent,
): Counter => {
  let count = 0;
  return {
    ...about,
    isOfMinute: true,
    add() {
      count += 1;
    },
    take(at) {
      const taken = { minute, count, at };
      count = 0;
      return taken.count === 0 ? null : { samples, facts: () => [eventOf(taken)] };
    },
  };
};

const kindOf = (
  { account, actor, trace, client }: Caller,
  subject: string,
  minute: string,
  eventOf: (taken: CallCount & { readonly client: Commitment | null }) => CallsEvent,
): Counter => {
  const sample: Sample = { client, commitment: null };
  const about = { account, actor, trace, stream: callsStream(subject) };
  return counterOf(about, minute, [sample], (taken) => eventOf({ ...taken, client: sample.commitment }));
};

type KindCounter<K extends string> = Tally & { add(kind: K): void };
type KindCounts = CallCount & { readonly counts: Readonly<Record<string, number>> };

const kindCounterOf = <K extends string>(
  about: Pick<Tally, "account" | "stream" | "actor" | "trace">,
  minute: string,
  eventOf: (data: KindCounts) => CallsEvent,
): KindCounter<K> => {
  let counts: Record<string, number> = {};
  let count = 0;
  return {
    ...about,
    isOfMinute: true,
    add(kind) {
      counts[kind] = (counts[kind] ?? 0) + 1;
      count += 1;
    },
    take(at) {
      const data = { minute, count, counts, at };
      counts = {};
      count = 0;
      return data.count === 0 ? null : { samples: [], facts: () => [eventOf(data)] };
    },
  };
};

/** Calls beyond the limits share a record of the account, whose actor is the service. */
const ofAccount = (account: string) => ({
  account,
  actor: COUNTS_ACTOR,
  trace: NO_TRACE,
  stream: callsStream(account),
});

type Reads = Tally & { add(subject: string): void };

const moreReadsOf = ({ account, actor, trace }: Caller, minute: string): Reads => {
  let ids = new Set<string>();
  let count = 0;
  return {
    ...{ account, actor, trace, stream: callsStream(actor.id), isOfMinute: true },
    add(subject) {
      count += 1;
      if (ids.size < LISTED_MAX) ids.add(subject);
    },
    take(at) {
      const data = { minute, count, subjects: [...ids], at };
      ids = new Set();
      count = 0;
      return data.count === 0 ? null : { samples: [], facts: () => [{ type: "MorePayloadsRead", data }] };
    },
  };
};

const STRANGERS = { account: "", stream: "calls-installation", actor: COUNTS_ACTOR, trace: NO_TRACE };

const strangersOf = (minute: string): KindCounter<Stranger> =>
  kindCounterOf(STRANGERS, minute, ({ counts, at }) => ({ type: "StrangersRefused", data: { minute, counts, at } }));

type Kinds = Tally & { readonly names: Set<string> };

const kindsOf = (account: string): Kinds => ({
  ...ofAccount(account),
  isOfMinute: true,
  names: new Set(),
  take: () => null,
});

const whose = ({ account, actor }: Caller): readonly string[] => [account, actor.kind, actor.id];

export const callCounts = (
  tallies: Pick<Tallies, "of">,
  onRefused: (what: Stranger, whose: "account" | "nobody") => void = () => undefined,
): CallCounts => {
  const hasRoom = (group: string, account: string, name: string, max: number): boolean => {
    const names = tallies.of(`kinds ${group} ${account}`, () => kindsOf(account))?.names;
    if (names === undefined) return false;
    if (!names.has(name) && names.size >= max) return false;
    names.add(name);
    return true;
  };

  const isWithin = (group: Group, account: string, name: string): boolean =>
    hasRoom(group, account, name, KINDS_A_MINUTE_MAX[group]);

  const isToldApart = (call: RefusedCall, name: string): boolean => {
    const { account, actor, subject, holds } = call;
    if (!holds) {
      const ofSubject = hasRoom(`outside ${subject}`, account, name, KINDS_OF_OUTSIDE_SUBJECT_MAX);
      return ofSubject && isWithin("outside", account, name);
    }
    const ofActor = hasRoom(`refused ${actor.kind} ${actor.id}`, account, name, KINDS_OF_ACTOR_MAX);
    return ofActor && isWithin("refused", account, name);
  };

  return {
    refused(call) {
      const { account, problem, route, subject, target } = call;
      onRefused(problem, "account");
      const name = JSON.stringify([...whose(call), problem, route, subject, target]);
      const detail = call.detail.slice(0, DETAIL_LENGTH_MAX);
      if (!isToldApart(call, name)) {
        tallies
          .of(`refused more ${account}`, (minute) =>
            kindCounterOf<ProblemCode>(ofAccount(account), minute, (data) => ({ type: "MoreCallsRefused", data })),
          )
          ?.add(problem);
        return;
      }
      tallies
        .of(`refused ${name}`, (minute) =>
          kindOf(call, subject, minute, (taken) => ({
            type: "CallsRefused",
            data: { problem, detail, route, target, ...taken },
          })),
        )
        ?.add();
    },

    stranger(what) {
      onRefused(what, "nobody");
      tallies.of("strangers", strangersOf)?.add(what);
    },

    requestRefused({ account, origin: { kind, id } }, gate) {
      const about = { account, actor: { kind, id }, trace: NO_TRACE, stream: callsStream(id) };
      tallies
        .of(`requests refused ${id}`, (minute) =>
          kindCounterOf(about, minute, (data) => ({ type: "RequestsRefused", data })),
        )
        ?.add(gate === undefined ? "unknown" : `${gate.gate}/${gate.code}`);
    },

    payloadRead(by, subject) {
      const name = JSON.stringify([...whose(by), subject]);
      if (isWithin("read", by.account, name)) {
        tallies
          .of(`read ${name}`, (minute) =>
            kindOf(by, subject, minute, (taken) => ({ type: "PayloadRead", data: { subject, ...taken } })),
          )
          ?.add();
      } else {
        tallies.of(`read more ${JSON.stringify(whose(by))}`, (minute) => moreReadsOf(by, minute))?.add(subject);
      }
    },

    replayTried(by, { filter, events }) {
      const name = JSON.stringify([...whose(by), filter]);
      const counter = isWithin("tried", by.account, name)
        ? tallies.of(`tried ${name}`, (minute) =>
            kindOf(by, by.actor.id, minute, (taken) => ({ type: "ReplayTried", data: { filter, events, ...taken } })),
          )
        : tallies.of(`tried more ${by.account}`, (minute) =>
            counterOf(ofAccount(by.account), minute, [], (data) => ({ type: "MoreReplaysTried", data })),
          );
      counter?.add();
    },
  };
};
