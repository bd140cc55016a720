/** A text that is copied many times, each time with other ids and times in the places of the original's. */
export type Template = (id: string, deliveryKey: string, shiftedTimes: readonly string[]) => string;

export type Original = { readonly eventId: string; readonly deliveryKey: string };

const TIME = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z";

const escaped = (text: string): string => text.replaceAll(/[^\w]/g, "\\$&");

/** Templates of the texts of one event. All of them share `times`, the different times in these texts. */
export class Templates {
  readonly times: string[] = [];
  readonly #parts: RegExp;
  readonly #original: Original;

  constructor(original: Original) {
    this.#original = original;
    this.#parts = new RegExp(`(${escaped(original.eventId)}|${escaped(original.deliveryKey)}|${TIME})`);
  }

  /** The text is split once, because parsing it as JSON for each copy takes most of the time of seeding. */
  add(text: string): Template {
    // Pieces at odd indexes are those that the expression has captured.
    const [first = "", ...pieces] = text.split(this.#parts);
    const places = pieces.flatMap((piece, n) =>
      n % 2 === 0 ? [{ at: this.#indexOf(piece), after: pieces[n + 1] ?? "" }] : [],
    );
    return (id, deliveryKey, shiftedTimes) => {
      let copy = first;
      for (const { at, after } of places)
        copy += (at === "id" ? id : at === "key" ? deliveryKey : shiftedTimes[at]) + after;
      return copy;
    };
  }

  #indexOf(piece: string): "id" | "key" | number {
    if (piece === this.#original.eventId) return "id";
    if (piece === this.#original.deliveryKey) return "key";
    const known = this.times.indexOf(piece);
    return known === -1 ? this.times.push(piece) - 1 : known;
  }
}
