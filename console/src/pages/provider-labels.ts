import { call } from "../api/api.ts";
import { useAnswer } from "../shell/use-answer.ts";

/** What the types of sources are called, such as "GitHub"; a type itself until the names are read. */
export const useProviderLabels = (): { readonly label: (type: string) => string; readonly isRead: boolean } => {
  const shown = useAnswer({ key: "capabilities", on: null }, () => call("GET /v1/capabilities"));
  const labels = new Map(shown.body?.providers.map(({ type, label }) => [type as string, label]));
  const isRead = shown.body !== null || shown.problem !== null;
  return { label: (type) => labels.get(type) ?? type, isRead };
};
