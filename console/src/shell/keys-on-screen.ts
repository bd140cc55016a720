/** The keys of the rows that people can see at the moment, from the top. */
export const keysOnScreen = (): readonly string[] =>
  [...document.querySelectorAll<HTMLElement>("main [data-key]")].flatMap((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    return bottom > 0 && top < innerHeight && row.dataset.key !== undefined ? [row.dataset.key] : [];
  });
