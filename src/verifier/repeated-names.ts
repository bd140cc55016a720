const QUOTE = '"';
const BACKSLASH = "\\";

/** The place of the closing quote of the text that opens at `from`. */
const endOfText = (json: string, from: number): number => {
  for (let at = json.indexOf(QUOTE, from + 1); at !== -1; at = json.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (json[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return json.length;
};

const COLON = /\s*:/y;

/** Whether the text that ends there is the name of a member. */
const isName = (json: string, end: number): boolean => {
  COLON.lastIndex = end + 1;
  return COLON.test(json);
};

/**
 * Whether an object of this text, which JSON.parse takes, has two members of one name. JSON.parse keeps the last of them and
 * other readers the first, so such a line would say one thing to the verifier and another to them.
 */
export const hasRepeatedName = (json: string): boolean => {
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === "{") open.push(new Set());
    else if (character === "[") open.push(null);
    else if (character === "}" || character === "]") open.pop();
    else if (character === QUOTE) {
      const end = endOfText(json, at);
      const names = isName(json, end) ? open.at(-1) : null;
      const name = names == null ? "" : String(JSON.parse(json.slice(at, end + 1)));
      if (names?.has(name) === true) return true;
      names?.add(name);
      at = end;
    }
  }
  return false;
};
