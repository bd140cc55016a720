import { suite } from "uvu";
import * as assert from "uvu/assert";
import { catchUpRate } from "../../../domain/endpoint/circuit.ts";
import type { PresentEndpoint } from "../../../domain/endpoint/decider.ts";
import { Pace } from "../../../src/delivery/pace.ts";
import { at, START } from "../../support/history.ts";
import { virtualTime } from "../../support/virtual-time.ts";

const test = suite("pace");

const endpoint = (over: Partial<PresentEndpoint["settings"]> = {}, wellAt: string | null = null): PresentEndpoint => ({
  phase: "present",
  endpointId: "end_1",
  account: "acc_1",
  underApproval: false,
  settings: {
    name: "app",
    url: "https://app.example/",
    timeout_ms: 1_000,
    retry_schedule_s: [],
    concurrency: 4,
    rate_per_second: null,
    headers: {},
    notifications: [],
    policy_id: null,
    ...over,
  },
  secrets: [],
  disabled: null,
  circuit: { state: "healthy" },
  wellAt,
  urlSince: null,
  createdAt: at(0),
});

/** How many requests begin in each of some seconds, when as many are begun as may. */
const begunIn = async (state: PresentEndpoint, seconds: number): Promise<readonly number[]> => {
  const time = virtualTime(START);
  const pace = new Pace(time.clock, time.timers);
  const begun = Array.from({ length: seconds }, () => 0);
  const begin = (): void => {
    while (time.clock.now() < START + seconds * 1_000 && pace.mayBegin(state, 0, begin)) {
      const second = Math.floor((time.clock.now() - START) / 1_000);
      begun[second] = (begun[second] ?? 0) + 1;
    }
  };
  begin();
  await time.runUntil(START + seconds * 1_000 - 1);
  return begun;
};

test("an endpoint gets one request at a time until its settings are read, then as many as they allow", () => {
  const time = virtualTime(START);
  const pace = new Pace(time.clock, time.timers);
  const may = (state: PresentEndpoint | null, running: number): boolean =>
    pace.mayBegin(state, running, () => undefined);
  assert.equal([may(null, 0), may(null, 1)], [true, false]);
  assert.equal([may(endpoint(), 3), may(endpoint(), 4)], [true, false]);
});

test("timers of whole milliseconds reach even a high rate", async () => {
  assert.equal(await begunIn(endpoint({ rate_per_second: 5 }), 3), [5, 5, 5]);
  const [first = 0, second = 0] = await begunIn(endpoint({ rate_per_second: 4_000 }), 2);
  assert.ok(Math.abs(first - 4_000) <= 4_000 * 0.03 && Math.abs(second - 4_000) <= 40, `${first}, ${second}`);
});

test("an endpoint that catches up gets little at first, and never more than its own rate", async () => {
  const slow = await begunIn(endpoint({}, at(0)), 31);
  assert.ok((slow[0] ?? 0) >= 9 && (slow[0] ?? 0) <= 12, String(slow[0]));
  assert.ok((slow[30] ?? 0) >= 76 && (slow[30] ?? 0) <= 88, String(slow[30]));
  const limited = await begunIn(endpoint({ rate_per_second: 15 }, at(0)), 31);
  assert.is(limited[30], 15);
});

test("a refused start wakes the caller once, when it may begin", async () => {
  const time = virtualTime(START);
  const pace = new Pace(time.clock, time.timers);
  const state = endpoint({ rate_per_second: 1 });
  let woken = 0;
  const wake = (): void => {
    woken += 1;
  };
  const may = (): boolean => pace.mayBegin(state, 0, wake);
  assert.equal([may(), may(), may()], [true, false, false]);
  await time.runUntil(START + 5_000);
  assert.is(woken, 1);
});

test("a clock that is set back stops neither the endpoint's rate nor a catch-up", async () => {
  for (const state of [endpoint({ rate_per_second: 5 }), endpoint({ rate_per_second: 5 }, at(0))]) {
    const time = virtualTime(START);
    const pace = new Pace(time.clock, time.timers);
    let begun = 0;
    const begin = (): void => {
      while (pace.mayBegin(state, 0, begin)) begun += 1;
    };
    begin();
    await time.runUntil(START + 1_000);
    assert.is(begun, 6);
    time.set(-3_600_000);
    await time.runUntil(START + 3_000);
    assert.ok(begun >= 14 && begun <= 17, String(begun));
  }
  assert.is(catchUpRate(at(3_600), START), null);
});

test.run();
