import { useMemo, useState } from "preact/hooks";
import { isBranch, type JsonNode, parseJsonSource, type TreeLine, treeLines } from "./json-source.ts";
import { Icon } from "./mark.tsx";
import { movedRow } from "./row-keys.ts";
import { useWindow } from "./virtual-rows.tsx";

const LINE_PX = 22;
/** Above this many lines only those on the screen are drawn. */
const LINES_MAX = 200;

const BRACKETS = { object: ["{", "}"], array: ["[", "]"] } as const;

const valueText = (node: JsonNode): string => {
  if (node.kind === "object") return "{}";
  if (node.kind === "array") return "[]";
  if (node.kind !== "string") return node.text;
  // A text of several lines is shown as lines; all else that has an escape keeps it.
  return `"${node.text
    .split("\n")
    .map((line) => JSON.stringify(line).slice(1, -1))
    .join("\n")}"`;
};

const Value = ({ line: { node, isClose, folded } }: { readonly line: TreeLine }) => {
  if (node.kind !== "object" && node.kind !== "array")
    return <span class={node.kind === "string" ? "v" : "n"}>{valueText(node)}</span>;
  const [open, close] = BRACKETS[node.kind];
  if (isClose) return <span class="c">{close}</span>;
  if (folded !== null)
    return <span class="c">{`${open} ${folded} ${node.kind === "array" ? "items" : "fields"} ${close}`}</span>;
  return <span class="c">{isBranch(node) ? open : open + close}</span>;
};

const isHit = ({ key, node, isClose }: TreeLine, search: string): boolean => {
  if (search === "" || isClose) return false;
  const value = node.kind === "object" || node.kind === "array" ? "" : node.text;
  return `${key ?? ""} ${value}`.toLowerCase().includes(search.toLowerCase());
};

type TreeProps = {
  readonly text: string;
  readonly label: string;
  readonly search?: string;
  /** JSON Pointers of fields that a policy hides, with the sentence that says so. */
  readonly hidden?: ReadonlyMap<string, string>;
};

/** JSON as a tree that folds with the left and right arrows (ARIA tree). Numbers keep the text that was sent. What is no JSON is shown as it is. */
export const JsonTree = ({ text, label, search = "", hidden = new Map() }: TreeProps) => {
  const root = useMemo(() => parseJsonSource(text), [text]);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState(0);
  const lines = useMemo(() => (root === null ? [] : treeLines(root, folded)), [root, folded]);
  const { box, shown, before, after } = useWindow(lines.length, LINE_PX, LINES_MAX);
  if (root === null)
    return (
      <div class="code wrap" tabIndex={0} role="region" aria-label={label}>
        {text}
      </div>
    );
  const fold = (pointer: string, isFolded: boolean): void => {
    const next = new Set(folded);
    if (isFolded) next.add(pointer);
    else next.delete(pointer);
    setFolded(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const line = lines[at];
    const next = movedRow(event.key, at, lines.length - 1);
    if (next !== null) setAt(next);
    else if (event.key === "ArrowLeft" && line !== undefined && isBranch(line.node)) fold(line.pointer, true);
    else if (event.key === "ArrowRight" && line !== undefined) fold(line.pointer, false);
    else return;
    event.preventDefault();
    if (event.currentTarget instanceof Element)
      event.currentTarget.querySelector<HTMLElement>(`[data-at="${next ?? at}"]`)?.focus();
  };
  return (
    <ul ref={box} class="tree" role="tree" aria-label={label} onKeyDown={onKeyDown}>
      {before === 0 ? null : <li class="gap" role="presentation" style={{ height: `${before}px` }} />}
      {lines.slice(shown.from, shown.to).map((line, nth) => {
        const index = shown.from + nth;
        const canFold = isBranch(line.node) && !line.isClose;
        return (
          <li
            key={`${line.pointer}${line.isClose ? "/" : ""}`}
            role="treeitem"
            aria-level={line.depth + 1}
            aria-expanded={canFold ? line.folded === null : undefined}
            tabIndex={index === at ? 0 : -1}
            data-at={index}
            style={{ "--d": String(line.depth) }}
            class={isHit(line, search) ? "hit" : ""}
            onFocus={() => setAt(index)}
          >
            {canFold ? (
              <span class="fold" onClick={() => fold(line.pointer, line.folded === null)} aria-hidden="true">
                <Icon name="chev" />
              </span>
            ) : null}
            {line.key === null || line.isClose ? null : <span class="k">{line.key}:</span>}
            {hidden.has(line.pointer) ? <span class="c">{hidden.get(line.pointer)}</span> : <Value line={line} />}
          </li>
        );
      })}
      {after === 0 ? null : <li class="gap" role="presentation" style={{ height: `${after}px` }} />}
    </ul>
  );
};
