import type { Delivery } from "../../domain/delivery/state.ts";
import type { NewEvent, Position, Revision } from "../../domain/ports/event-log.ts";
import type { Job } from "./job.ts";

/** The job as the admission has it, with everything that the request needs. */
export type LeasableJob = Job & Required<Pick<Job, "trace" | "body" | "contentType" | "contentEncoding">>;

/** The job, if everything that the request needs came with it. A probe depends on more than the job. */
export const leasable = (job: Job): LeasableJob | null => {
  const { kind, trace, body, contentType, contentEncoding } = job;
  if (kind === "probe" || trace === undefined || body === undefined) return null;
  if (contentType === undefined || contentEncoding === undefined) return null;
  return { ...job, trace, body, contentType, contentEncoding };
};

/**
 * The lease of the first attempt, taken together with the admission. Exactly one of `begin` and `cancel` has to be
 * called, because the lease holds one of the endpoint's slots until then; any later call does nothing.
 *
 * 1. `Deliverer.lease(job, admitted)` is asked before the append, with the state after `EventAdmitted`.
 * 2. `records` are appended directly after `EventAdmitted`, in the same append. The delivery's state is then `state`.
 *    An ordered endpoint's lease has no records: its slot is a place in the log's order, and `begin` queues the job.
 * 3. Once the append is durable, `begin` sends the request. If the append conflicted, failed or has an unknown outcome,
 *    `cancel` gives the slot back and nothing is sent: a lease that was recorded nevertheless ends by itself, and the
 *    event is found on disk.
 */
export type AdmissionLease = {
  readonly records: readonly NewEvent[];
  readonly state: Delivery;
  /** Takes the revision and position of the last of `records`, as the append returned them. Returns at once. */
  begin(appended: { readonly revision: Revision; readonly position: Position }): void;
  cancel(): void;
};

/** The lease, of which only the first call of `begin` or `cancel` does anything. */
export const endedOnce = (lease: AdmissionLease): AdmissionLease => {
  let isOpen = true;
  const once = (act: () => void): void => {
    if (!isOpen) return;
    isOpen = false;
    act();
  };
  return {
    records: lease.records,
    state: lease.state,
    begin: (appended) => once(() => lease.begin(appended)),
    cancel: () => once(() => lease.cancel()),
  };
};
