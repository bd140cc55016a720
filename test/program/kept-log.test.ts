import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { logIn } from "../support/client.ts";
import { countersign } from "../support/command-line.ts";
import { KEPT_VKEY, keptEnvironment, keptLogs, unpackKeptLog } from "../support/kept-log.ts";
import { readWholeLog } from "../support/log-facts.ts";
import { killPrograms, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";

const test = suite<{ dir: string }>("the logs of releases");
const PASSWORD = "correct horse battery";

test.before.each((context) => {
  context.dir = temporaryFolder();
});
test.after.each(({ dir }) => {
  killPrograms();
  removeFolder(dir);
});

test("there is one of each release", () => assert.ok(keptLogs().length > 0));

for (const name of keptLogs()) {
  test(`${name} has the records that were sealed in it, and every view is folded from them`, async ({ dir }) => {
    const kept = unpackKeptLog(name, dir);
    const verified = await countersign(["log", "verify", `sqlite:${dir}`]);
    assert.equal([verified.status, verified.stdout.trim()], [0, kept.chain], verified.stderr);
    assert.equal([...new Set((await readWholeLog(dir)).map(({ type }) => type))].sort(), kept.types);
    const folded = await countersign(["views", "rebuild"], { env: { DATA_DIR: dir } });
    assert.is(folded.status, 0, folded.stderr);
  });

  test(`${name} is served: its owner logs in, its events are listed, and its export is authentic`, async ({ dir }) => {
    const { email, events } = unpackKeptLog(name, dir);
    const program = await startProgram(keptEnvironment(dir), dir);
    const client = await logIn(program.url, { email, password: PASSWORD });
    await until("all views are folded", async () => {
      const { projections } = (await client.call("GET", "/runtime")).body;
      return projections.every(({ lag_events }: { readonly lag_events: number }) => lag_events === 0);
    });
    const { data } = (await client.call("GET", "/v1/events?limit=100")).body;
    const shown = data.map(({ id, status }: { readonly id: string; readonly status: string }) => [id, status]);
    assert.equal(shown.reverse(), events);
    const exported = join(dir, "export.ndjson");
    const whole = await until("the account is sealed", async () => {
      const headers = { authorization: `Bearer ${client.key}` };
      const answer = await fetch(`${program.url}/v1/audit/export`, { headers });
      return answer.status === 200 ? answer.text() : null;
    });
    writeFileSync(exported, whole);
    const verified = await countersign(["verify", exported, "--key", KEPT_VKEY]);
    assert.is(verified.status, 0, verified.stdout + verified.stderr);
    assert.is(await program.stop(), 0);
  });
}

test.run();
