import { closingQuote } from "../../domain/evidence/closing-quote.ts";
import type { Echo } from "../../domain/gate/echo.ts";
import type { FieldPath } from "../../domain/gate/field-path.ts";
import { PathTree } from "../../domain/gate/path-tree.ts";
import { REDACTED } from "../../domain/gate/redact.ts";

const ENDS: ReadonlySet<string> = new Set([..." \n\r\t,]}"]);

const isOpen = (character: string | undefined): boolean => character === "{" || character === "[";
const isClose = (character: string | undefined): boolean => character === "}" || character === "]";
/** Whitespace of JSON (RFC 8259, section 2). */
const isBlank = (character: string | undefined): boolean =>
  character === " " || character === "\n" || character === "\r" || character === "\t";

const ALL = PathTree.of([[]]);

/** `text` must be valid JSON. Null if several shown values, joined, repeat a hidden value. */
const rewritten = (text: string, paths: PathTree, echo: Echo | null): string | null => {
  let at = 0;
  const shown: string[] = [];
  const hidden = JSON.stringify(REDACTED);

  const blanks = (): void => {
    while (isBlank(text[at])) at += 1;
  };

  const string = (): string => {
    const from = at;
    at = closingQuote(text, at) + 1;
    return text.slice(from, at);
  };

  const whole = (): string => {
    const from = at;
    let depth = 0;
    do {
      const character = text[at];
      if (character === '"') {
        string();
        continue;
      }
      if (isOpen(character)) depth += 1;
      else if (isClose(character)) depth -= 1;
      at += 1;
      while (depth === 0 && at < text.length && !isClose(character) && !ENDS.has(text[at] ?? "")) at += 1;
    } while (depth > 0);
    return text.slice(from, at);
  };

  const member = (rest: PathTree, raw: string): string => {
    const name = raw.includes("\\") ? String(JSON.parse(raw)) : raw.slice(1, -1);
    if (echo?.hidesName(name) === true) return `${raw}:${value(ALL)}`;
    return `${echo?.hides(name) === true ? hidden : raw}:${value(rest.member(name))}`;
  };

  const value = (rest: PathTree): string => {
    blanks();
    if (rest.isEnd) {
      whole();
      return hidden;
    }
    const open = text[at] ?? "";
    if (!isOpen(open)) {
      const raw = whole();
      if (echo === null) return raw;
      const scalar = String(JSON.parse(raw));
      if (echo.hides(scalar)) return hidden;
      shown.push(scalar);
      return raw;
    }
    if (rest.isEmpty && echo === null) return whole();
    at += 1;
    const parts: string[] = [];
    // If the paths have no array positions, all elements have the same rest of paths.
    const each = open === "[" && !rest.hasPositions ? rest.element(0) : null;
    for (let index = 0; ; index += 1) {
      blanks();
      if (text[at] === ",") at += 1;
      else if (isClose(text[at])) break;
      blanks();
      if (open === "[") parts.push(value(each ?? rest.element(index)));
      else {
        const name = string();
        blanks();
        at += 1;
        parts.push(member(rest, name));
      }
    }
    at += 1;
    return open + parts.join(",") + text[at - 1];
  };

  const all = value(paths);
  return echo?.hidesRun(shown) === true ? null : all;
};

/**
 * Values that are shown keep their spelling, because parsing and writing would change numbers above 2^53. Null if the
 * text is not JSON, or if a hidden value is spread over several fields.
 */
export const redactText = (text: string, hidden: readonly FieldPath[], echo: Echo | null = null): string | null => {
  try {
    JSON.parse(text);
    return rewritten(text, PathTree.of(hidden), echo);
  } catch {
    return null;
  }
};
