import { suite } from "uvu";
import type { ReplayCommand } from "../../../domain/replay/commands.ts";
import { replay } from "../../../domain/replay/decider.ts";
import type { ReplayEvent } from "../../../domain/replay/events.ts";
import type { SkipCount } from "../../../domain/replay/skips.ts";
import { specFor } from "../../support/given.ts";
import { at, replayFacts } from "../../support/history.ts";
import { words } from "../../support/personal-words.ts";

const given = specFor(replay);
const is = replayFacts();
const started = is.started();
const BY = { kind: "member", id: "mem_1" } as const;
const cursor = (second: number, id = "evt_1") => ({ received_at: at(second), id });
const progress = (
  second: number,
  where = cursor(second),
  node = "node_1",
  skipped: readonly SkipCount[] = [],
): ReplayCommand => ({
  type: "ProgressReplay",
  cursor: where,
  skipped,
  node,
  at: at(second),
});
const cancel = (second: number, account = "acc_1"): ReplayCommand => ({
  type: "CancelReplay",
  account,
  by: BY,
  reason: words("enough"),
  at: at(second),
});
const finish = (second: number): ReplayCommand => ({ type: "FinishReplay", at: at(second) });
const start = (place = 1): ReplayCommand => {
  const { at: _, ...about } = (started as Extract<ReplayEvent, { type: "ReplayStarted" }>).data;
  return { type: "StartReplay", replay: about, place, at: at(0) };
};

const test = suite("replay of many");

test("a replay is started once, and the same command again changes nothing", () => {
  given().when(start()).then(started);
  given(started).when(start()).thenNothing();
  given(started, is.finished(9)).when(start()).thenNothing();
});
test("a replay that was abandoned before its start is started only with a later place", () => {
  const abandon = (place: number): ReplayCommand => ({ type: "AbandonReplay", replayId: "rpl_1", place, at: at(0) });
  const abandoned = (place: number): ReplayEvent => ({
    type: "ReplayAbandoned",
    data: { replay_id: "rpl_1", place, at: at(0) },
  });
  given().when(abandon(3)).then(abandoned(3));
  given(abandoned(3)).when(abandon(3)).thenNothing();
  given(abandoned(3)).when(start(3)).rejects("abandoned");
  given(abandoned(3)).when(start(4)).then(started);
  given(abandoned(3)).when(finish(5)).rejects("not-found");
  given(abandoned(3), started).when(abandon(4)).rejects("started");
});
test("the cursor only ever moves on, whichever node reports it", () => {
  given(started)
    .when(progress(5))
    .then(is.progressed(5, cursor(5)));
  const at5 = [started, is.progressed(5, cursor(5))];
  given(...at5)
    .when(progress(6, cursor(4), "node_2"))
    .rejects("overtaken");
  given(...at5)
    .when(progress(6, cursor(5, "evt_0")))
    .rejects("overtaken");
  given(...at5)
    .when(progress(6, cursor(5), "node_2"))
    .then(is.progressed(6, cursor(5), 0, "node_2"));
  given(...at5)
    .when({ type: "ProgressReplay", cursor: null, skipped: [], node: "node_2", at: at(6) })
    .rejects("overtaken");
});
test("a cancelled replay goes no further, and a second cancellation changes nothing", () => {
  given(started).when(cancel(5)).then(is.cancelled(5));
  given(started, is.cancelled(5)).when(cancel(6)).thenNothing();
  given(started, is.cancelled(5)).when(progress(6)).rejects("ended");
  given(started, is.cancelled(5)).when(finish(6)).rejects("ended");
  given(started, is.finished(5)).when(cancel(6)).rejects("ended");
  given(started).when(cancel(5, "acc_2")).rejects("not-found");
  given().when(cancel(5)).rejects("not-found");
});
test("a finished replay stays finished", () => {
  given(started).when(finish(5)).then(is.finished(5));
  given(started, is.finished(5)).when(finish(6)).thenNothing();
  given(started, is.finished(5)).when(progress(6)).rejects("ended");
});

test.run();
