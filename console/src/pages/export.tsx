import { useEffect, useState } from "preact/hooks";
import { toast } from "../../design/toast.tsx";
import type { ExportProps } from "./export-layer.tsx";

type Loaded = typeof import("./export-layer.tsx");

/** Saves a list as a file. Its script comes once it is asked for, as few visits do; without a connection, no row would come. */
export const Export = <Row,>(props: ExportProps<Row>) => {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  useEffect(() => {
    import("./export-layer.tsx").then(setLoaded, () => {
      toast.value = { text: "Nothing can be exported without a connection." };
      props.onClose();
    });
  }, []);
  return loaded === null ? null : <loaded.ExportLayer {...props} />;
};
