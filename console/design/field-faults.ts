/** What the browser found wrong in a field, and what it was told about the field. */
type Checked = {
  readonly valueMissing: boolean;
  readonly tooShort: boolean;
  readonly tooLong: boolean;
};
type About = {
  readonly type: string;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
};

const EXPECTED: Readonly<Record<string, string>> = {
  email: "Write an e-mail address, such as name@example.com.",
  url: "Write a whole address, such as https://shop.example/hook.",
  number: "Write a number.",
};

/** What to write instead; browsers have words of their own, in the language of the browser. Pure. */
export const expectedIn = (
  { valueMissing, tooShort, tooLong }: Checked,
  { type, minLength, maxLength }: About,
): string => {
  if (valueMissing) return "This field is empty, and it is needed.";
  if (tooShort) return `Write at least ${minLength} characters.`;
  if (tooLong) return `Write at most ${maxLength} characters.`;
  return EXPECTED[type] ?? "Write it in another way.";
};
