/** The section of a changelog about a version, without its heading; null if there is none with a date. */
export const notesOf = (changelog: string, version: string): string | null => {
  const heading = `## [${version}] - `;
  const sections = changelog.split(/^(?=## )/m);
  const section = sections.find(
    (it) => it.startsWith(heading) && /^\d{4}-\d{2}-\d{2}\n/.test(it.slice(heading.length)),
  );
  return section === undefined ? null : `${section.slice(section.indexOf("\n")).trim()}\n`;
};
