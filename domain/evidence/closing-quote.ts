const BACKSLASH = 0x5c;

/** Where the text of valid JSON ends whose opening quote is at `at`: the place of its closing quote. */
export const closingQuote = (text: string, at: number): number => {
  let quote = text.indexOf('"', at + 1);
  while (quote !== -1) {
    let slash = quote - 1;
    while (text.charCodeAt(slash) === BACKSLASH) slash -= 1;
    if ((quote - slash) % 2 === 1) return quote;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
};
