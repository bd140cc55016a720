/** Each plan includes everything; they differ in volume. */
export type Plan = {
  readonly name: "free" | "starter" | "core" | "scale";
  readonly priceEurMonth: number;
  readonly eventsPerMonth: number;
  /** Ingest sources. */
  readonly endpoints: number;
  readonly retentionDays: number;
  readonly apiRatePerMinute: number;
  /** Stops at eventsPerMonth; the others go on into overage. */
  readonly hardStop: boolean;
};

export const OVERAGE_BLOCK_EVENTS = 25_000;
export const OVERAGE_BLOCK_EUR = 12;

const plan = (
  name: Plan["name"],
  priceEurMonth: number,
  eventsPerMonth: number,
  endpoints: number,
  retentionDays: number,
  apiRatePerMinute: number,
): Plan => ({
  name,
  priceEurMonth,
  eventsPerMonth,
  endpoints,
  retentionDays,
  apiRatePerMinute,
  hardStop: priceEurMonth === 0,
});

export const PLANS: Readonly<Record<Plan["name"], Plan>> = {
  free: plan("free", 0, 1_000, 1, 3, 600),
  starter: plan("starter", 19, 25_000, 5, 14, 1_200),
  core: plan("core", 49, 100_000, 20, 30, 3_000),
  scale: plan("scale", 89, 250_000, 100, 90, 6_000),
};
