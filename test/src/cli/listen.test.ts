import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ran, scriptedService, sendJson } from "../../support/scripted-service.ts";

const test = suite("countersign listen");

const idOf = (letter: string): string => `evt_${letter.repeat(32)}`;
const frame = (index: number, type: string, id: string): string => {
  const about = { type: `io.countersign.${type}.v1`, subject: `delivery-${id}`, position: `${index}`, time: "" };
  return `id: ${index}-x\ndata: ${JSON.stringify({ ...about, data: { event_id: id, endpoint_id: "end_1" } })}\n\n`;
};
/** What the service knows of an event that was asked for by an agent. */
const shown = (id: string) => ({
  ...{ id, status: "queued", type: "refund.create", received_at: "2026-03-01T12:00:00.000Z", endpoint_id: "end_1" },
  ...{ delivery_id: "k", failure: null, verdict: { decision: "hold", policy: null, gates: [] } },
  origin: { kind: "agent", id: "agt_1", name: "support", type: "agent" },
});

/** The record of the hold, as the audit has it. */
const FIRST = {
  type: "EventHeld",
  data: { run: { id: "night", depth: 2 }, bundle: { id: "bun_1", index: 0, undo: false } },
  metadata: { trace_id: "4bf92f3577b34da6a3ce929d0e0e4736" },
};

test("a program gets the action's headers even after an approval or a replay, whose records do not name it", async () => {
  const [service, program] = [await scriptedService(), await scriptedService()];
  try {
    program.answer((_, response) => response.end());
    const [approved, replayed, last] = [idOf("a"), idOf("b"), idOf("c")];
    service.answer(({ url = "" }, response) => {
      if (url.includes("/audit/stream")) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write("retry: 3000\nid: start\n\n");
        response.write(frame(0, "EventReleased", approved));
        response.write(frame(1, "EventReplayed", replayed));
        response.write(frame(2, "EventReleased", last));
      } else if (url.includes("/v1/audit?")) sendJson(response, 200, { data: [FIRST], next_cursor: null });
      else if (!url.includes("/payload")) sendJson(response, 200, shown(/evt_\w+/.exec(url)?.[0] ?? ""));
      // The key does not hold any more, which ends it.
      else if (url.includes(last)) response.writeHead(401).end();
      else response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
    const { status } = await ran(["listen", "--forward", program.url], {
      COUNTERSIGN_URL: service.url,
      COUNTERSIGN_API_KEY: "csk_a",
    });
    assert.is(status, 1);
    assert.equal(
      program.asked.map(({ headers }) => [
        headers["webhook-id"],
        headers["countersign-action"],
        headers["countersign-agent"],
        headers["countersign-bundle"],
        headers["countersign-run"],
        headers["countersign-depth"],
      ]),
      [approved, replayed].map((id) => [id, "refund.create", "agt_1", "bun_1", "night", "3"]),
    );
    for (const { headers } of program.asked)
      assert.match(String(headers.traceparent), new RegExp(`^00-${FIRST.metadata.trace_id}-[0-9a-f]{16}-01$`));
  } finally {
    service.close();
    program.close();
  }
});

test("a call that fails for the moment is repeated, and no event is left out", async () => {
  const [service, program] = [await scriptedService(), await scriptedService()];
  try {
    program.answer((_, response) => response.end());
    const [approved, last] = [idOf("a"), idOf("b")];
    const refused = new Set<string>();
    service.answer(({ url = "" }, response) => {
      const about = /evt_\w+(\/payload)?/.exec(url)?.[0] ?? "";
      if (url.includes("/audit/stream")) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write("retry: 3000\nid: start\n\n");
        response.write(frame(0, "EventReleased", approved));
        response.write(frame(1, "EventReleased", last));
      } else if (about.includes(last) && about.includes("/payload")) response.writeHead(401).end();
      else if (url.includes("/v1/audit?")) sendJson(response, 200, { data: [], next_cursor: null });
      else if (about.includes(last)) response.writeHead(401).end();
      else if (!refused.has(about)) {
        refused.add(about);
        response.writeHead(503).end();
      } else if (url.includes("/payload")) response.writeHead(200, { "content-type": "application/json" }).end("{}");
      else sendJson(response, 200, shown(approved));
    });
    const { status } = await ran(["listen", "--forward", program.url], {
      COUNTERSIGN_URL: service.url,
      COUNTERSIGN_API_KEY: "csk_a",
    });
    assert.is(status, 1);
    assert.equal([...refused], [approved, `${approved}/payload`]);
    assert.equal(
      program.asked.map(({ headers }) => headers["webhook-id"]),
      [approved],
    );
  } finally {
    service.close();
    program.close();
  }
});

test.run();
