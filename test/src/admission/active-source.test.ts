import { suite } from "uvu";
import * as assert from "uvu/assert";
import { source } from "../../../domain/source/decider.ts";
import type { SourceSettings } from "../../../domain/source/events.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { activeSource } from "../../../src/admission/active-source.ts";
import { aggregates } from "../../../src/streams/aggregates.ts";
import { testClock } from "../../support/http-app.ts";

const test = suite("whether a source accepts");

const at = "2026-03-01T12:00:00.000Z";
const account = "acc_a";
const idOf = (letter: string): string => `src_${letter.repeat(32)}`;
let commands = 0;
const envelope = () => {
  commands += 1;
  const trace = { trace_id: "0".repeat(32), span_id: "0".repeat(16) };
  return { commandId: `cmd_${commands}`, account, actor: { kind: "system", id: "test" } as const, trace, at };
};

test("an active source accepts webhooks, and any other answers why it does not", async () => {
  const streams = aggregates(memoryEventLog(), testClock());
  const register = async (sourceId: string, status: SourceSettings["status"]) => {
    const settings: SourceSettings = { name: "shop", policy_id: null, endpoint_id: null, status };
    const command = { type: "RegisterSource", sourceId, account, provider: "stripe", settings, at } as const;
    const secret = { auth: null, dedupe: null, secret: "sealed", madeBy: "mem_1" };
    await streams.handle(source, `source-${sourceId}`, { ...command, ...secret }, envelope());
  };
  const sourceOf = activeSource(streams);
  const codeOf = async (provider: string, sourceId: string): Promise<string> => {
    const answer = await sourceOf(provider, sourceId);
    return "problem" in answer ? answer.problem : answer.phase;
  };
  await register(idOf("a"), "active");
  await register(idOf("b"), "paused");
  assert.is(await codeOf("stripe", idOf("a")), "present");
  assert.is(await codeOf("stripe", idOf("b")), "source-paused");
  assert.is(await codeOf("github", idOf("a")), "not-found", "another type than its own");
  assert.is(await codeOf("github", idOf("b")), "not-found", "nor is it said that it is paused");
  assert.is(await codeOf("stripe", idOf("c")), "not-found");
  for (const id of ["", "src_a", idOf("A"), `${idOf("a")}a`]) assert.is(await codeOf("stripe", id), "not-found", id);
});

test.run();
