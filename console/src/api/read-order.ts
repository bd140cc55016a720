/** The order of the reads of one thing: an answer that is older than what is shown would take it back. */
export const readOrder = () => {
  let [asked, answered] = [0, 0];
  return {
    ask(): number {
      asked += 1;
      return asked;
    },
    /** True if a later read was answered before this one. */
    isOvertaken(nth: number): boolean {
      if (nth < answered) return true;
      answered = nth;
      return false;
    },
  };
};
