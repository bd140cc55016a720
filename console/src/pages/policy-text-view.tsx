import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { LoadError, Loading } from "../../design/placeholders.tsx";
import type { EditorProps } from "./policy-editor.tsx";

const UNLOADED = { title: "The editor could not be loaded", detail: "The form goes on with the same draft." };

/** The editor weighs more than the page, so that it is loaded once it is wanted. */
export const TextView = (props: EditorProps) => {
  const [Shown, setShown] = useState<ComponentType<EditorProps> | null>(null);
  const [isMissing, setMissing] = useState(false);
  const load = (): void => {
    setMissing(false);
    import("./policy-editor.tsx").then(
      (it) => setShown(() => it.default),
      () => setMissing(true),
    );
  };
  useEffect(load, []);
  if (isMissing) return <LoadError what="The editor" failure={UNLOADED} since={null} onRetry={load} />;
  return Shown === null ? <Loading rows={8} /> : <Shown {...props} />;
};
