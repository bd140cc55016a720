import { closingQuote } from "../../domain/evidence/closing-quote.ts";

const QUOTE = '"';

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
      const end = closingQuote(json, at);
      const names = isName(json, end) ? open.at(-1) : null;
      const name = names == null ? "" : String(JSON.parse(json.slice(at, end + 1)));
      if (names?.has(name) === true) return true;
      names?.add(name);
      at = end;
    }
  }
  return false;
};
