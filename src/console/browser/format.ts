/** Formats are independent of the browser's language, so that two people see the same. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Milliseconds as a text such as "3 ms", "1.2 s", "5 min", "2.5 h" or "3 d". */
export const duration = (ms: number): string => {
  const short = (value: number): string => String(Number(value.toFixed(1)));
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${short(ms / SECOND)} s`;
  if (ms < HOUR) return `${short(ms / MINUTE)} min`;
  return ms < DAY ? `${short(ms / HOUR)} h` : `${short(ms / DAY)} d`;
};

/** UTC to the second, such as "2026-03-01 12:00:05". */
export const clock = (iso: string): string => iso.slice(0, 19).replace("T", " ");

/** The distance of a time from now, such as "5 min ago" or "in 2 h". */
export const relative = (iso: string, nowMs: number): string => {
  const ms = nowMs - Date.parse(iso);
  if (Number.isNaN(ms)) return iso;
  if (Math.abs(ms) < SECOND) return "now";
  return ms < 0 ? `in ${duration(-ms)}` : `${duration(ms)} ago`;
};

export const bytes = (size: number): string => {
  if (size < 1_000) return `${size} B`;
  return size < 1_000_000 ? `${(size / 1_000).toFixed(1)} kB` : `${(size / 1_000_000).toFixed(1)} MB`;
};

/** Euros with at least two decimals, such as "2.50 €" or "0.000125 €". */
export const euro = (eur: number | null): string => {
  if (eur === null) return "unknown";
  const cents = eur.toFixed(2);
  return `${Number(cents) === eur ? cents : String(Number(eur.toFixed(6)))} €`;
};

export const percent = (share: number | null): string => (share === null ? "–" : `${(share * 100).toFixed(1)} %`);

export const milliseconds = (ms: number | null): string => (ms === null ? "–" : duration(ms));

/** Matches one token of JSON (RFC 8259, section 2). */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+/g;
/** Levels of JSON beyond this depth are not indented further. */
const DEPTH_MAX = 64;

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/**
 * Indents JSON and leaves other text as it is. It works on tokens, because parsing would change values: long numbers
 * lose digits, and of repeated names all values but the last are lost.
 */
export const pretty = (text: string): string => {
  if (!isJson(text)) return text;
  const tokens = text.match(TOKEN) ?? [];
  const parts: string[] = [];
  let depth = 0;
  for (const [n, token] of tokens.entries()) {
    const isEmpty = /^[}\]]/.test(tokens[n + 1] ?? "");
    const wasEmpty = /^[{[]/.test(tokens[n - 1] ?? "");
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
    if (depth > DEPTH_MAX) return text;
    const line = `\n${"  ".repeat(depth)}`;
    if (token === "{" || token === "[") parts.push(isEmpty ? token : `${token}${line}`);
    else if (token === "}" || token === "]") parts.push(wasEmpty ? token : `${line}${token}`);
    else if (token === ",") parts.push(`,${line}`);
    else if (token === ":") parts.push(": ");
    // Strings are written with as few escapes as possible, which means the same and is easier to read.
    else parts.push(token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token);
  }
  return parts.join("");
};

export const words = (name: string): string => name.replaceAll("_", " ");
