import { useLayoutEffect, useRef } from "preact/hooks";
import { bindingOf, type Keys } from "./key-bindings.ts";

type Bindings = { readonly current: Keys };

const FIELDS = "input:not([type=checkbox]), textarea, select, [contenteditable], dialog";
const LEFT_BY_ESC = ":is(input:not([type=checkbox]), textarea, select):not(dialog *)";
/** The second key of a pair, as in `g` then `e`, has to come within this time. */
const PAIR_MS = 1_500;

/** Bindings in the order in which their components were drawn; the last one that knows a key takes it. */
const layers: Bindings[] = [];
const settings = { letters: true };

/** A member may switch letters off (WCAG 2.2, success criterion 2.1.4). */
export const switchLetters = (isOn: boolean): void => {
  settings.letters = isOn;
};

const listen = (): void => {
  let first = "";
  let at = 0;
  addEventListener("keydown", (event) => {
    // The path also tells of a field within a shadow root, which is not the event's target out here.
    const [inner] = event.composedPath();
    const target = inner instanceof Element ? inner : null;
    // Esc leaves a field; within a layer it closes the layer, and in the policy's text it lets Tab go on.
    if (event.key === "Escape" && target instanceof HTMLElement && target.matches(LEFT_BY_ESC)) target.blur();
    const isOff = !settings.letters || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented;
    if (isOff || target?.closest(FIELDS) || document.querySelector(":modal") !== null) return;
    const isPair = event.timeStamp - at < PAIR_MS;
    const act = bindingOf(
      layers.map(({ current }) => current),
      isPair ? first : "",
      event.key,
    );
    [first, at] = [event.key, event.timeStamp];
    if (act === null) return;
    event.preventDefault();
    act();
  });
};
let isListening = false;

/** Letters that act while the component is drawn, and no field has the focus. */
export const useKeys = (keys: Keys): void => {
  const bindings = useRef(keys);
  bindings.current = keys;
  // A key may be pressed as soon as the component is drawn, which an effect after that would miss.
  useLayoutEffect(() => {
    if (!isListening) listen();
    isListening = true;
    layers.push(bindings);
    return () => {
      layers.splice(layers.indexOf(bindings), 1);
    };
  }, []);
};
