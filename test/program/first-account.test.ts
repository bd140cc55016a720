import { suite } from "uvu";
import * as assert from "uvu/assert";
import { clientAt, reply } from "../support/client.ts";
import { countersign } from "../support/command-line.ts";
import { killPrograms, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";

const test = suite("the first account, and its owner's way back");
const dir = temporaryFolder();
const PASSWORD = "correct horse battery";
const CLOSED = { SIGNUP: "closed" };

test.after(() => {
  killPrograms();
  removeFolder(dir);
});

const post = async (url: string, body: object) =>
  reply(
    await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  );

const LINK = /Make the first one here, once: http:\/\/\S+\/start#(\S+)/;

test("a closed start prints the link for the first account, and recovery makes one for its owner while it runs", async () => {
  const program = await startProgram(CLOSED, dir);
  const token = await until("the link is printed", () => LINK.exec(program.output())?.[1] ?? "");
  const who = { email: "ana@shop.example", password: PASSWORD };
  assert.is((await post(`${program.url}/v1/auth/signup`, who)).status, 403);
  const made = await post(`${program.url}/v1/auth/start`, { token, ...who, account_name: "Shop" });
  assert.is(made.status, 200, JSON.stringify(made.body));
  const cookie = made.headers.get("set-cookie")?.split(";")[0] ?? "";
  const owner = clientAt(program.url, { account: made.body.account.id, cookie, key: "" });
  const listed = await owner.session("GET", `/v1/members?after=${made.headers.get("countersign-position")}`);
  assert.equal(
    listed.body.data.map(({ email, role }: { email: string; role: string }) => [email, role]),
    [[who.email, "owner"]],
  );

  const env = { DATA_DIR: dir, PUBLIC_URL: "https://hooks.example" };
  assert.is((await countersign(["account", "recover", "nobody@shop.example"], { env })).status, 1);
  assert.is((await countersign(["account", "recover"], { env })).status, 2);
  const recovered = await countersign(["account", "recover", "Ana@Shop.example"], { env });
  assert.is(recovered.status, 0, recovered.stderr);
  const [, reset = ""] = /^https:\/\/hooks\.example\/reset#(\S+)$/m.exec(recovered.stdout) ?? [];
  const entered = await post(`${program.url}/v1/auth/reset`, { token: reset, password: "another horse battery" });
  assert.is(entered.status, 200, JSON.stringify(entered.body));
  assert.is(entered.body.member.id, made.body.member.id);
  assert.is((await owner.session("GET", "/v1/auth/me")).status, 401, "every earlier session has ended");
  assert.is(await program.stop(), 0);

  const again = await startProgram(CLOSED, dir);
  assert.is((await post(`${again.url}/v1/auth/login`, { ...who, password: "another horse battery" })).status, 200);
  assert.not.match(again.output(), LINK);
  assert.is(await again.stop(), 0);
});

test.run();
