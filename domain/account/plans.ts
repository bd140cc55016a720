/** How many of each kind an account may have, named as `limits` in `GET /v1/capabilities` names them. */
export type Counts = {
  readonly delivery_endpoints: number;
  readonly policies: number;
  readonly agents: number;
  readonly actions: number;
  readonly members: number;
  readonly sessions: number;
  readonly held_approvals: number;
  readonly held_changes: number;
};

export type Plan = {
  readonly name: "free" | "starter" | "core" | "scale";
  readonly priceEurMonth: number;
  readonly eventsPerMonth: number;
  /** How many sources an account may have; its delivery endpoints are limited by `counts`. */
  readonly endpoints: number;
  readonly retentionDays: number;
  readonly apiRatePerMinute: number;
  /** Requests per minute of all sessions together; all keys together have the same limit, and so have all agents. */
  readonly apiRatePerMinuteAccount: number;
  /** How many bytes of admitted and held requests, and of receivers' answers, are stored in a day (UTC). */
  readonly storedBytesDay: number;
  /** How many bytes of refused requests are stored in a day (UTC); of further ones only the first 4 KiB are. */
  readonly refusedBytesDay: number;
  /** How many refused requests after `refusedBytesDay` get a record in a day (UTC); further ones are only counted. */
  readonly refusedRecordsDay: number;
  /** How many bytes changes may add in a day (UTC); people, keys and agents have this many each. */
  readonly changeBytesDay: number;
  /** How many bytes of large webhooks the server works on in a second; further webhooks wait for their turn. */
  readonly largeBodyBytesPerS: number;
  readonly counts: Counts;
  /** True: requests beyond `eventsPerMonth` are refused. False: they are overage, which is billed. */
  readonly hardStop: boolean;
};

export const OVERAGE_BLOCK_EVENTS = 25_000;
export const OVERAGE_BLOCK_EUR = 12;

const KIB = 1_024;
const MB = 1_000_000;
const GB = 1_000 * MB;

/** An account's credentials of one kind may together call as often as this many of them at their full rate. */
const CREDENTIALS_AT_FULL_RATE = 3;

/**
 * `storedBytesDay` is 100 kB for each event of the month on the free plan; on the others sixty usual days of 10 kB an
 * event, on `scale` 120. `largeBodyBytesPerS`: a megabyte takes some 20 ms of the thread that serves all accounts, so
 * an account on `scale` uses at most a sixth of the thread's time.
 */
export const PLANS: Readonly<Record<Plan["name"], Plan>> = {
  free: {
    name: "free",
    priceEurMonth: 0,
    eventsPerMonth: 1_000,
    endpoints: 1,
    retentionDays: 3,
    apiRatePerMinute: 600,
    apiRatePerMinuteAccount: CREDENTIALS_AT_FULL_RATE * 600,
    storedBytesDay: 100 * MB,
    refusedBytesDay: 10 * MB,
    refusedRecordsDay: 2_000,
    changeBytesDay: 20 * MB,
    largeBodyBytesPerS: 256 * KIB,
    counts: {
      delivery_endpoints: 10,
      policies: 50,
      agents: 10,
      actions: 50,
      members: 25,
      sessions: 100,
      held_approvals: 100,
      held_changes: 20,
    },
    hardStop: true,
  },
  starter: {
    name: "starter",
    priceEurMonth: 19,
    eventsPerMonth: 25_000,
    endpoints: 5,
    retentionDays: 14,
    apiRatePerMinute: 1_200,
    apiRatePerMinuteAccount: CREDENTIALS_AT_FULL_RATE * 1_200,
    storedBytesDay: 500 * MB,
    refusedBytesDay: 50 * MB,
    refusedRecordsDay: 10_000,
    changeBytesDay: 50 * MB,
    largeBodyBytesPerS: 1_024 * KIB,
    counts: {
      delivery_endpoints: 50,
      policies: 200,
      agents: 50,
      actions: 200,
      members: 50,
      sessions: 200,
      held_approvals: 500,
      held_changes: 50,
    },
    hardStop: false,
  },
  core: {
    name: "core",
    priceEurMonth: 49,
    eventsPerMonth: 100_000,
    endpoints: 20,
    retentionDays: 30,
    apiRatePerMinute: 3_000,
    apiRatePerMinuteAccount: CREDENTIALS_AT_FULL_RATE * 3_000,
    storedBytesDay: 2 * GB,
    refusedBytesDay: 100 * MB,
    refusedRecordsDay: 20_000,
    changeBytesDay: 200 * MB,
    largeBodyBytesPerS: 4_096 * KIB,
    counts: {
      delivery_endpoints: 200,
      policies: 500,
      agents: 200,
      actions: 500,
      members: 100,
      sessions: 400,
      held_approvals: 1_000,
      held_changes: 100,
    },
    hardStop: false,
  },
  scale: {
    name: "scale",
    priceEurMonth: 89,
    eventsPerMonth: 250_000,
    endpoints: 100,
    retentionDays: 90,
    apiRatePerMinute: 6_000,
    apiRatePerMinuteAccount: CREDENTIALS_AT_FULL_RATE * 6_000,
    storedBytesDay: 10 * GB,
    refusedBytesDay: 500 * MB,
    refusedRecordsDay: 100_000,
    changeBytesDay: 500 * MB,
    largeBodyBytesPerS: 8_192 * KIB,
    counts: {
      delivery_endpoints: 1_000,
      policies: 2_000,
      agents: 1_000,
      actions: 2_000,
      members: 200,
      sessions: 800,
      held_approvals: 5_000,
      held_changes: 200,
    },
    hardStop: false,
  },
};
