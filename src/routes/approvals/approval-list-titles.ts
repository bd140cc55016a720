import { bundleTitleOf } from "../../../domain/approval/summary.ts";
import { directBodyReader } from "../../bodies/body-reader.ts";
import type { Principal } from "../../http/route.ts";
import { type DetailDeps, ownApproval, shownOf } from "./approval-detail.ts";
import { subjectOf } from "./approval-target.ts";

type Reader = { readonly principal: Principal; readonly at: string };

const titleOfOne = async (deps: DetailDeps, id: string, { principal, at }: Reader): Promise<string | null> => {
  const { bodyReader = directBodyReader } = deps;
  const it = await ownApproval(deps, { principal, params: { id } });
  if (it === null || it.request.subject.kind === "change") return null;
  if (it.request.subject.kind === "bundle") {
    const subject = await subjectOf(deps.log, it);
    return subject.kind === "bundle" && subject.asked !== null ? bundleTitleOf(subject.asked) : null;
  }
  // Nobody's read of a list is recorded, so what the policies hide is hidden in it from everybody.
  const viewer: Principal = { kind: "key", account: principal.account, id: principal.id, role: "viewer" };
  const { order } = await shownOf(deps, it, { principal: viewer, at });
  if (order.title === null || bodyReader.busy(principal.account, "content", order) !== null) return null;
  return (await bodyReader.run(principal.account, "content", order)).title;
};

/**
 * The sentences that are decided, by the ids of approvals. An action without a template has none, nor has one whose payload
 * is gone; that of a bundle needs no payload.
 */
export const titlesOfApprovals = async (
  deps: DetailDeps,
  ids: readonly string[],
  reader: Reader,
): Promise<ReadonlyMap<string, string>> => {
  const titles = await Promise.all(ids.map(async (id) => [id, await titleOfOne(deps, id, reader)] as const));
  return new Map(titles.flatMap(([id, title]) => (title === null ? [] : [[id, title] as const])));
};
