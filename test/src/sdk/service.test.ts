import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Client, signUp } from "../../support/client.ts";
import { countersign } from "../../support/command-line.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder } from "../../support/program.ts";
import { type Receiver, receiver } from "../../support/receiver.ts";
import { compile, writeProject } from "./compiler.ts";

const REFUND = {
  type: "object",
  description: "Gives money back */ for a charge.",
  properties: { charge: { type: "string" }, amount_eur: { type: "number", description: "At most what was paid." } },
  required: ["charge"],
  additionalProperties: false,
};

const folder = temporaryFolder();
let program: Program;
let target: Receiver;
let client: Client;

const test = suite("the SDK against the service");

test.before(async () => {
  program = await startProgram();
  target = await receiver();
  client = await signUp(program.url);
  const { id } = await client.make("/v1/endpoints", { name: "payments", url: target.url });
  const actions = {
    "refund.create": { schema: REFUND, reversibility: "irreversible" },
    "mail.send": { reversibility: "irreversible" },
  };
  for (const [name, action] of Object.entries(actions)) {
    const put = await client.call("PUT", `/v1/actions/${name}`, { endpoint_id: id, ...action });
    assert.is(put.status, 201, JSON.stringify(put.body));
  }
});
test.after(async () => {
  await program.stop();
  await target.close();
  killPrograms();
  removeFolder(folder);
});

test("the types of the account's actions are written by the command line, and hold calls to their schemas", async () => {
  const out = join(folder, "actions.ts");
  const env = { COUNTERSIGN_API_KEY: client.key };
  const ended = await countersign(["sdk", "types", "--url", program.url, "--out", out], { env });
  assert.is(ended.status, 0, ended.stderr);
  const use = `
    import type { Actions } from "./actions.ts";
    export const refund: Actions["refund.create"]["payload"] = { charge: "ch_1", amount_eur: 3 };
    export const mail: Actions["mail.send"]["payload"] = "anything";
    // @ts-expect-error the wrong type
    export const wrong: Actions["refund.create"]["payload"] = { charge: 1 };
    // @ts-expect-error a name that the schema does not have
    export const odd: Actions["refund.create"]["payload"] = { charge: "ch_1", amount: 3 };
    // @ts-expect-error an unknown action
    export type Unknown = Actions["refund.delete"];
  `;
  const options = {
    module: "nodenext",
    target: "es2022",
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  };
  writeProject(folder, { "actions.ts": readFileSync(out, "utf8"), "use.ts": use }, { ...options, types: [] });
  assert.equal(await compile(["-p", folder]), []);
});

test.run();
