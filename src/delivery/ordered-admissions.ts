import type { Position } from "../../domain/ports/event-log.ts";
import type { Job } from "./job.ts";

/** An admission whose append is under way. It gets a later position than `after`, the newest one known at its start. */
export type OpenAdmission = { readonly after: Position | "" };
type Admitted = { readonly job: Job; readonly position: Position };

/** More jobs do not wait, whatever their order: so many come only while the log takes seconds for one append. */
const WAITING_MAX = 1_024;
/** Further waiting jobs keep neither body nor state, which are then read from the log. */
const WHOLE_MAX = 64;

/**
 * Puts the admissions of one ordered endpoint into the log's order. A log on a server may answer two appends in another
 * order than it wrote them, so a job waits while an append is under way that may have an earlier position.
 */
export class OrderedAdmissions {
  /** In the order of their starts, so the first has the lowest `after`. */
  readonly #open = new Set<OpenAdmission>();
  #waiting: Admitted[] = [];
  #newest: Position | "" = "";

  /** Has to be called before the append is sent. `close` ends it, with null if nothing was admitted. */
  open(): OpenAdmission {
    const admission = { after: this.#newest };
    this.#open.add(admission);
    return admission;
  }

  /** Returns the jobs that may be queued now, in the order of the log. */
  close(admission: OpenAdmission, admitted: Admitted | null): readonly Job[] {
    this.#open.delete(admission);
    return admitted === null ? this.#released() : this.add(admitted);
  }

  /** Adds a job that was admitted without `open`. */
  add({ job, position }: Admitted): readonly Job[] {
    const { body: _body, known: _known, ...lean } = job;
    const admitted = { job: this.#waiting.length < WHOLE_MAX ? job : lean, position };
    const later = this.#waiting.findLastIndex((other) => other.position < position) + 1;
    this.#waiting.splice(later, 0, admitted);
    if (position > this.#newest) this.#newest = position;
    return this.#released();
  }

  #released(): readonly Job[] {
    const [first] = this.#open;
    const isEach = first === undefined || this.#waiting.length > WAITING_MAX;
    const blocked = isEach ? -1 : this.#waiting.findIndex(({ position }) => position > first.after);
    return this.#waiting.splice(0, blocked === -1 ? this.#waiting.length : blocked).map(({ job }) => job);
  }
}
