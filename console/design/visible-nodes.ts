import { options, type VNode } from "preact";
import { visibleText } from "./visible-text.ts";

/** Attributes that people read or hear. */
const READ = ["title", "aria-label", "placeholder", "alt"];

/**
 * Makes Preact draw characters that reorder text or are not seen as escapes, wherever they are drawn: names and payloads come
 * from strangers. Preact makes a node of each text, whose `props` are the text itself.
 */
export const drawVisibleText = (): void => {
  const before = options.vnode;
  options.vnode = (vnode: VNode) => {
    // Its type says an object, for nodes of elements and components.
    const props = vnode.props as Record<string, unknown> | string;
    if (typeof props === "string") Object.assign(vnode, { props: visibleText(props) });
    else if (typeof vnode.type === "string")
      for (const name of READ) if (typeof props[name] === "string") props[name] = visibleText(props[name]);
    before?.(vnode);
  };
};
