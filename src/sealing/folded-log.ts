import type { EventLog } from "../../domain/ports/event-log.ts";
import type { EvidenceStore } from "../../domain/ports/evidence-store.ts";
import { EvidenceFollower } from "../evidence/evidence-follower.ts";
import { pageSize } from "../following/page-size.ts";

const PAGE_MAX = 4_096;

/** Folds the log to its end. A service may fold into the same file meanwhile: no page is written twice. */
export const foldToEnd = async (log: EventLog, store: EvidenceStore): Promise<void> => {
  const follower = new EvidenceFollower(log, store);
  const size = pageSize(PAGE_MAX);
  await follower.claim();
  for (;;) {
    const page = await log.readAll(follower.position(), size.events(), "records");
    if (page.length === 0) return;
    size.learn(page);
    await follower.advance(page);
  }
};
