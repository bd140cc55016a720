import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/**
 * Runs once the page is laid out and before it is painted, and whenever the element's size changes. Sizes and places cost
 * nothing then; whoever asks for them earlier has the page laid out once more. The answer ends it.
 */
export const whenSized = (element: Element, run: () => void): (() => void) => {
  const observer = new ResizeObserver(run);
  observer.observe(element);
  return () => observer.disconnect();
};

/** The width of an element in pixels, before the page is painted, so that nothing moves; 0 until it is known. */
export const useWidth = (box: RefObject<Element | null>): number => {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = box;
    return current === null ? undefined : whenSized(current, () => setWidth(current.clientWidth));
  }, []);
  return width;
};
