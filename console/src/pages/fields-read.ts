/** Which fields of a decision have been on the screen, down to their end. */

/** What covers the screen: the bar above the page, and the place of signature below it. */
const HEAD_PX = 64;
/** A line that stays when a long field goes on, so that the reader finds the place. */
const LINE_PX = 40;

const rowsIn = (card: Element): readonly HTMLElement[] => [...card.querySelectorAll<HTMLElement>("[data-pointer]")];

const nameOf = (row: HTMLElement): string => row.dataset.pointer ?? "";

/** Where the bar begins that covers what lies below; on a screen with room for little else, it is not counted. */
const edge = (): number => {
  const bar = document.querySelector(".sign")?.getBoundingClientRect().top ?? innerHeight;
  return Math.min(innerHeight, Math.max(bar, innerHeight / 2));
};

/** Notes in `read` the fields whose end is on the screen, and does so at each scroll until the returned function is called. */
export const followReading = (card: Element, read: Set<string>): (() => void) => {
  const note = (): void => noteRead(card, read);
  note();
  addEventListener("scroll", note, { passive: true });
  addEventListener("resize", note, { passive: true });
  return () => {
    removeEventListener("scroll", note);
    removeEventListener("resize", note);
  };
};

const noteRead = (card: Element, read: Set<string>): void => {
  const last = edge();
  for (const row of rowsIn(card)) {
    if (read.has(nameOf(row))) continue;
    const { bottom } = row.getBoundingClientRect();
    if (bottom > 0 && bottom <= last) read.add(nameOf(row));
  }
};

/** The fields that have not been on the screen so far. */
export const unreadIn = (card: Element, read: Set<string>): readonly HTMLElement[] => {
  noteRead(card, read);
  return rowsIn(card).filter((row) => !read.has(nameOf(row)));
};

/** Scrolls to a field; one that is longer than the screen is shown a screen at a time, from its beginning. */
export const showField = (row: HTMLElement): void => {
  const { top, bottom } = row.getBoundingClientRect();
  const last = edge();
  const room = last - HEAD_PX;
  if (bottom - top <= room) scrollBy(0, (top + bottom - HEAD_PX - last) / 2);
  else if (top > HEAD_PX) scrollBy(0, top - HEAD_PX);
  else scrollBy(0, Math.min(Math.max(room - LINE_PX, LINE_PX), bottom - last + LINE_PX));
};
