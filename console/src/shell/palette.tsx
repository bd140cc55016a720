import { useEffect, useState } from "preact/hooks";
import { useKeys } from "../../design/keys.ts";
import { Icon } from "../../design/mark.tsx";
import { openLayer } from "./frame-state.ts";

/** The layers come once the page has its answers, and before somebody is likely to open one. */
const AFTER_MS = 2_000;

/** The button and the key that open one field over everything. */
export const JumpPalette = () => {
  const open = openLayer.value;
  const [layers, setLayers] = useState<typeof import("./palette-layers.tsx") | null>(null);
  const setOpen = (layer: typeof open): void => {
    openLayer.value = layer;
  };
  const close = (): void => setOpen(null);
  const load = (): void => {
    // Without a connection it is asked for again when it is opened.
    import("./palette-layers.tsx").then(setLayers, () => undefined);
  };
  useEffect(() => {
    if (open !== null && layers === null) load();
  }, [open]);
  useEffect(() => {
    const timer = setTimeout(load, AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  useKeys({ "?": () => setOpen("keys") });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setOpen("palette");
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <button class="find" type="button" onClick={() => setOpen("palette")}>
        <Icon name="search" />
        <span>Search or jump to</span>
        <span class="vh"> (Control K)</span>
        <kbd>⌘K</kbd>
      </button>
      {layers !== null && open === "palette" ? <layers.Jump onClose={close} /> : null}
      {layers !== null && open === "keys" ? <layers.AllKeys onClose={close} /> : null}
    </>
  );
};
