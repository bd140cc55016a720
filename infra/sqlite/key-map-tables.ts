/**
 * `links` has the links of consecutive records, from `first` on. `map_rows` has the rows of each account's map as of
 * `maps.size`, and `map_seals` the seals that they have not reached. `seal_index` and `seal_root` are null unless the rows
 * are those of a seal.
 */
export const KEY_MAP_TABLES = `
CREATE INDEX unmapped ON trees (number) WHERE size > mapped + 1 AND name <> '';
CREATE TABLE links (
  tree INTEGER NOT NULL, first INTEGER NOT NULL, packed BLOB NOT NULL, PRIMARY KEY (tree, first)
) WITHOUT ROWID;
CREATE TABLE maps (
  tree INTEGER PRIMARY KEY, size INTEGER NOT NULL, seal_index INTEGER, seal_root BLOB, difference TEXT
);
CREATE INDEX map_differences ON maps (tree) WHERE difference IS NOT NULL;
CREATE TABLE map_rows (
  tree INTEGER NOT NULL, row INTEGER NOT NULL, tile INTEGER NOT NULL, content BLOB NOT NULL, PRIMARY KEY (tree, row)
);
CREATE TABLE map_seals (
  tree INTEGER NOT NULL, number INTEGER NOT NULL, size INTEGER NOT NULL, root BLOB NOT NULL, PRIMARY KEY (tree, number)
) WITHOUT ROWID;
`;

export const KEY_MAP_TABLE_NAMES = ["links", "maps", "map_rows", "map_seals"] as const;
