import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { EMAIL_LENGTH_MAX, normalizeEmail } from "../../../domain/account/email-address.ts";
import { normalizePassword, weaknessOf } from "../../../domain/account/password-rule.ts";

const test = suite("addresses and passwords");

test("an address has one spelling", () => {
  for (const spelling of ["ana@shop.example", " Ana@Shop.EXAMPLE ", "ANA@shop.example\n"])
    assert.is(normalizeEmail(spelling), "ana@shop.example");
  assert.is(normalizeEmail("rene\u0301@caf\u00e9.example"), "ren\u00e9@xn--caf-dma.example");
  assert.is(normalizeEmail("ana+tag.x@sub-1.shop.example"), "ana+tag.x@sub-1.shop.example");
  assert.is(normalizeEmail("root@localhost"), "root@localhost");
});
test("a domain in Unicode and in punycode is one, however it is spelled", () => {
  const spellings = ["b\u00fccher.example", "bu\u0308cher.example", "B\u00dcCHER.example", "\uff42\u00fccher.example"];
  for (const domain of [...spellings, "xn--bcher-kva.example", "XN--BCHER-KVA.Example"])
    assert.is(normalizeEmail(`ana@${domain}`), "ana@xn--bcher-kva.example", domain);
  // Cyrillic letters that look like Latin ones are another domain, and one sees it.
  assert.is(normalizeEmail("ana@sh\u043ep.example"), "ana@xn--shp-ted.example");
  for (const none of [
    "ana@xn--a.example",
    "ana@xn--.example",
    "ana@192.0.2.1",
    "ana@1",
    "ana@0x7f.1",
    "ana@a%2e.example",
  ])
    assert.is(normalizeEmail(none), null, none);
});

test("text that is not an address is refused", () => {
  const long = `ana@${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.${"e".repeat(10)}`;
  assert.ok(long.length > EMAIL_LENGTH_MAX);
  const none = ["", "ana", "@", "ana@", "@shop.example", "a@b@c", "a b@c.example", "a@c..example", "a@.c", "a@c."];
  const hostile = [
    "a\r\nbcc: x@y.example@z",
    "a@c.example\u0000",
    "a\u200b@c.example",
    "a@-c.example",
    '"a"@c.example',
  ];
  const odd = [
    "a,b@c.example",
    "<a@c.example>",
    "a@[192.0.2.1]",
    "\ud800@c.example",
    `${"a".repeat(65)}@c.example`,
    long,
  ];
  for (const raw of [...none, ...hostile, ...odd]) assert.is(normalizeEmail(raw), null, JSON.stringify(raw));
});
test("normalising again changes nothing", () =>
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom("X.example", "É.example", "ß.İ"), (local, domain) => {
      const email = normalizeEmail(`${local}@${domain}`);
      if (email !== null) assert.is(normalizeEmail(email), email);
    }),
  ));
test("a long hostile address is refused at once", () => {
  for (const raw of [`${"a".repeat(1e6)}@`, `a@${"a.".repeat(1e6)}`, " ".repeat(1e6)])
    assert.is(normalizeEmail(raw), null);
});

const weak = (password: string, email = "maria.lopez@shop.example") => weaknessOf(password, email) !== null;

test("a password has to be long enough and not common, nothing else", () => {
  for (const password of [
    "correct horse battery",
    "Tr0ub4dor&3x",
    "contraseña-larga",
    "四つの言葉を並べる長い文",
    "hunter2hunter2",
  ])
    assert.is(weaknessOf(password, "maria.lopez@shop.example"), null, password);
});
test("common, short, repetitive and numeric passwords are refused, each with a hint", () => {
  const commonest = [
    "password",
    "Password123!",
    "qwertyuiop",
    "1234567890",
    "0987654321",
    "iloveyou2024",
    "!!Welcome1!!",
  ];
  const regular = [
    "aaaaaaaaaaaa",
    "ababababab",
    "abcdefghijkl",
    "20240101202",
    "Countersign1!",
    "1q2w3e4r5t",
    "letmein12345",
  ];
  for (const password of [...commonest, ...regular, "short", "123456789", "x".repeat(2000)])
    assert.ok(weak(password), password);
  assert.match(String(weaknessOf("short", "a@b")), "10 characters");
});
test("the e-mail address is refused as a password", () => {
  for (const password of ["maria.lopez", "Maria.Lopez1!", "maria.lopez@shop.example", "12maria.lopez99"])
    assert.ok(weak(password), password);
});
test("a password that is not Unicode text is refused", () => assert.ok(weak("abcde\ud800fghijkm")));
test("a password is the same from every keyboard", () =>
  assert.is(normalizePassword("contrasen\u0303a-1"), normalizePassword("contrase\u00f1a-1")));
test.run();
