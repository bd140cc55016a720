import { suite } from "uvu";
import * as assert from "uvu/assert";
import { defined } from "../../domain/defined.ts";

const test = suite("defined");

test("undefined members are left out, all others stay in their order", () => {
  const object = defined({ b: undefined, a: 1, c: null, d: false, e: "" });
  assert.equal(Object.entries(object), [
    ["a", 1],
    ["c", null],
    ["d", false],
    ["e", ""],
  ]);
  assert.not("b" in object);
});

test("its type fits optional members that may not be undefined", () => {
  type Target = { readonly id: string; readonly reason?: string; readonly until: string | null };
  const target = (reason: string | undefined, until: string | null): Target => defined({ id: "a", reason, until });
  assert.equal(target(undefined, null), { id: "a", until: null });
  assert.equal(target("expired", "2026-01-31"), { id: "a", reason: "expired", until: "2026-01-31" });
});

test("a required member that may be undefined does not compile", () => {
  const maybe = (): string | undefined => undefined;
  // @ts-expect-error: `id` is required, and is left out where it is undefined.
  const target: { readonly id: string } = defined({ id: maybe() });
  assert.equal(target, {});
});

test.run();
