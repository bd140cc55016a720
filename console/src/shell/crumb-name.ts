import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { place } from "./router.ts";

/** What the thing that is open is called, and the path at which it was. */
export const crumbName = signal<{ readonly path: string; readonly name: string } | null>(null);

/** Names the open page in the breadcrumbs; null leaves the word for its kind there. */
export const useCrumbName = (name: string | null): void => {
  const { path } = place.value;
  useEffect(() => {
    if (name === null) return undefined;
    const own = { path, name };
    crumbName.value = own;
    // A form may share its address's path with its list, which has no name.
    return () => {
      if (crumbName.value === own) crumbName.value = null;
    };
  }, [path, name]);
};
