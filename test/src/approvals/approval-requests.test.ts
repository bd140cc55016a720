import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog, Position } from "../../../domain/ports/event-log.ts";
import { LogUnavailable } from "../../../infra/log-errors.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { approvalIdOf, approvalStream } from "../../../src/approvals/approvals.ts";
import { ACCOUNT, admissionNode } from "../../support/admission-world.ts";
import { claimNode, claimsWorld } from "../../support/bundle-claims.ts";
import { failingLog } from "../../support/failing-log.ts";
import { noonClock } from "../../support/noon-clock.ts";
import { ACCOUNT as REPLAY_ACCOUNT, replayIdOf, replayNode, replayWorld } from "../../support/replay-world.ts";

const test = suite("the approval of a held request");

const ASK = { approval: { expires_after_s: 3_600 } };
const LARGE = { never: false, large: true };
const STEPS = [{ action: "order.pay", payload: { amount: 1 } }];

type Answer = { readonly approvalId: string; readonly position: Position | undefined };
/** One kind of request that people have to approve. Each node forgets everything but the log. */
type Subject = {
  readonly log: EventLog;
  /** The same request each time. */
  readonly ask: (seen: EventLog) => Promise<Answer>;
};

const webhook = async (): Promise<Subject> => {
  const log = memoryEventLog();
  const clock = noonClock();
  return {
    log,
    async ask(seen) {
      const { eventId, status, position } = await admissionNode(seen, clock).send("a", LARGE);
      assert.is(status, "held");
      return { approvalId: approvalIdOf(ACCOUNT, eventId ?? ""), position };
    },
  };
};

const action = async (): Promise<Subject> => {
  const world = await claimsWorld(ASK);
  return {
    log: world.log,
    async ask(log) {
      const begun = await claimNode(world, { log }).execute("key", "order.pay", { amount: 1 });
      if ("problem" in begun) throw new Error(begun.problem);
      const { known, position } = begun;
      return { approvalId: known.state.phase === "held" ? known.state.approval.approval_id : "", position };
    },
  };
};

const bundle = async (): Promise<Subject> => {
  const world = await claimsWorld(ASK);
  return {
    log: world.log,
    async ask(log) {
      const begun = await claimNode(world, { log }).ask("key", STEPS);
      if ("problem" in begun) throw new Error(begun.problem);
      const { known, position } = begun;
      return { approvalId: known.state.phase === "held" ? known.state.approval.approval_id : "", position };
    },
  };
};

const replay = async (): Promise<Subject> => {
  const world = await replayWorld(ASK);
  const eventId = await world.blocked(1);
  return {
    log: world.log,
    async ask(log) {
      const node = await replayNode(world, { log });
      try {
        const done = await node.replay(eventId, 1);
        assert.is(done.outcome === "replayed" && done.state.phase, "held");
        const { position } = done as Extract<typeof done, { outcome: "replayed" }>;
        return { approvalId: approvalIdOf(REPLAY_ACCOUNT, eventId, replayIdOf(1)), position };
      } finally {
        await node.stop();
      }
    },
  };
};

const isApproval = (stream: string): boolean => stream.startsWith("approval-");

/** The approval is in the log, once, at or before the position that was answered; with nothing that reacts to the hold. */
const isFound = async (log: EventLog, { approvalId, position }: Answer): Promise<void> => {
  const records = await log.read(approvalStream(approvalId), null, 10);
  assert.equal(
    records.map(({ type }) => type),
    ["ApprovalRequested"],
  );
  assert.ok((records[0]?.position ?? "none") <= (position ?? ""), `${position} is before ${records[0]?.position}`);
};

for (const [name, begin] of Object.entries({ webhook, action, bundle, replay })) {
  test(`${name}: it is requested at the answer's position, also by a repeat`, async () => {
    const { log, ask } = await begin();
    await isFound(log, await ask(log));
    await isFound(log, await ask(log));
  });

  test(`${name}: after a crash between the hold and the approval, the repeat requests it before it answers`, async () => {
    const { log, ask } = await begin();
    const first = await ask(failingLog(log, isApproval)).catch((error: unknown) => error);
    assert.instance(first, LogUnavailable);
    await isFound(log, await ask(log));
  });

  test(`${name}: requested meanwhile by another node, it is found at the answer's position all the same`, async () => {
    const { log, ask } = await begin();
    let isFirst = true;
    const raced: EventLog = {
      ...log,
      async append(stream, expected, events) {
        if (isFirst && isApproval(stream)) {
          isFirst = false;
          // The other node appends between this one's read and its append.
          const others = events.map((event) => ({ ...event, id: event.id.replace(/^......../, "00000000") }));
          await log.append(stream, expected, others);
        }
        return log.append(stream, expected, events);
      },
    };
    await isFound(log, await ask(raced));
    assert.not.ok(isFirst);
  });
}

test.run();
