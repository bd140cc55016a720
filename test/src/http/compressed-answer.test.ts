import { Readable } from "node:stream";
import { gunzipSync } from "node:zlib";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compressedAnswer } from "../../../src/http/compressed-answer.ts";
import type { Principal } from "../../../src/http/route.ts";
import type { SentAnswer } from "../../../src/http/sent-answer.ts";

const test = suite("compressed answers");

const MEMBER = { kind: "member", account: "acc_1", id: "mem_1", role: "viewer", session: "ses_1" } as Principal;
const LONG: SentAnswer = { status: 200, headers: { "content-type": "application/json" }, body: '{"a":1}'.repeat(400) };
const READ = { method: "GET", principal: MEMBER, acceptEncoding: "gzip, deflate, br, zstd" };

test("a long answer to a person's read is compressed, and says so", async () => {
  const { status, headers, body } = await compressedAnswer(LONG, READ);
  assert.equal([status, headers], [200, { ...LONG.headers, "content-encoding": "gzip", vary: "accept-encoding" }]);
  assert.is(gunzipSync(body as Buffer).toString(), LONG.body);
});

test("what is short, not asked for as gzip, a change, a failure, bytes or a program's is left as it is", async () => {
  const key: Principal = { kind: "key", account: "acc_1", id: "key_1", role: "viewer" };
  const cases: readonly (readonly [SentAnswer, Partial<typeof READ> | { principal: Principal | null }])[] = [
    [{ ...LONG, body: "{}" }, {}],
    [{ ...LONG, body: null }, {}],
    [{ ...LONG, body: Buffer.alloc(10_000) }, {}],
    [{ ...LONG, body: Readable.from([]) }, {}],
    [{ ...LONG, status: 500 }, {}],
    [LONG, { method: "POST" }],
    [LONG, { method: "HEAD" }],
    [LONG, { principal: key }],
    [LONG, { principal: null }],
    ...["", "br", "identity", "gzip;q=0", "gzip; q=0.000, br", "xgzip"].map(
      (acceptEncoding) => [LONG, { acceptEncoding }] as const,
    ),
  ];
  for (const [answer, asked] of cases) assert.is(await compressedAnswer(answer, { ...READ, ...asked }), answer);
  for (const acceptEncoding of ["gzip", "br, gzip;q=0.5", "GZIP ; q=1.0"])
    assert.is.not(await compressedAnswer(LONG, { ...READ, acceptEncoding }), LONG, acceptEncoding);
});

test.run();
